"""Averages of alpha and d over many small problems."""
