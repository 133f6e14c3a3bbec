"""Where and how the work runs: progress, and what this machine can do."""
