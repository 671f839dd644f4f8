"""Plugins in the window: what an open net may use, which folders the user trusts, and what is wrong with them."""
