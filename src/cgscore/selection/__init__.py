"""Which examples to keep, and copies of the data with only those."""
