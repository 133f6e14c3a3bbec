"""Tests of the review application and of its files."""
