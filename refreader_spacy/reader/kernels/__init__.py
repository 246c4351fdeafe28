"""Compiled inference; optional, NumPy does the same without it."""
