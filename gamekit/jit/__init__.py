"""Compiling: users' functions and our own → machine code, and the cache that keeps it."""
