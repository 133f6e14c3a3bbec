"""Scores of examples that need trained networks."""
