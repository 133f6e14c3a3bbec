"""alpha and d of all examples from one Cholesky factor, in memory or on disk."""
