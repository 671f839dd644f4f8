"""How pages and the program end."""
