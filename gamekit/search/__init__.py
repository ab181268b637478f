"""Compiled search that knows no game, its plain twin, Monte-Carlo, and the exact solvers."""
