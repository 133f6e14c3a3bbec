"""Networks beyond those of `training.models`."""
