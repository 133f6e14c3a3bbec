"""The paper's theory: two-layer networks, theorem 1, and kernel velocity."""
