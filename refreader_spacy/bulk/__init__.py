"""Corpora larger than a process or a machine."""
