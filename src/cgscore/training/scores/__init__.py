"""Scores of examples that need training."""
