"""Networks, and what is read off them: their layers, and gradients of single examples."""
