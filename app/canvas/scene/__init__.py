"""What is drawn: the scene and its items."""
