"""Exact values: solvers for k in a row with and without gravity, and deepening for the rest."""
