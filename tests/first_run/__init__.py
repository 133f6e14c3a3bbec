"""The first command on ordinary data: real datasets, as people bring them, through the commands."""
