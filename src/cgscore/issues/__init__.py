"""Which labels are wrong, what they should be, how sure that is, and why."""
