"""alpha and d of all examples by conjugate gradients, with an audit."""
