"""Ways from inputs and targets to alpha and d; one way per file.

`exact` factorises H once; `reference` deletes and inverts again, for comparison.
"""
