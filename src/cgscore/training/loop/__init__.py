"""The training loop: inputs, schedule, steps, records of every epoch, and resuming."""
