"""Every figure and table of the paper, by one command each."""
