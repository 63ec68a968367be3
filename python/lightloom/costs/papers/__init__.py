"""Cost and power calculations of papers as functions; `lightloom reproduce` compares with them."""
