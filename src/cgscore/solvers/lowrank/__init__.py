"""Landmarks with an exact diagonal: all examples at once, in two passes over their rows."""
