"""Runs, load curves, trials and forecasts."""
