"""The training itself: inputs, schedule, steps, records of every epoch, and how it goes on."""
