"""The command line: one file for each command."""

from cgscore.cli.app import app, main

__all__ = ["app", "main"]
