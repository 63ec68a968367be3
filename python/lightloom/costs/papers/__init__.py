"""What papers reckon of cost and power, as functions: the oracles of `lightloom reproduce`."""
