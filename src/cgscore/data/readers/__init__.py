"""One file for each format that can be read, and the registry of them."""
