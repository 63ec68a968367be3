"""What simulations return: tables, files, means over seeds."""
