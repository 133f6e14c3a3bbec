"""Ways to score: one file for each method behind one contract, and `auto` to choose."""
