"""Quantities: parsed, counted, printed, and with their intervals."""
