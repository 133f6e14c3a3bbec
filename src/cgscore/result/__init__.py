"""The result users hold, and the file it is saved in."""
