"""The experiment file: its keys, its overrides, its inputs, and who it is."""
