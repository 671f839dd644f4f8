"""Plugins in the window: trust, code, and what is wrong with them."""
