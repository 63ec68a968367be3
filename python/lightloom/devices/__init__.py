"""Devices of optical networks: lasers, gratings, switches, clocks."""
