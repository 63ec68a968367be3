"""Drivers of real and emulated switches, one file for each interface."""
