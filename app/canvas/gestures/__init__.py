"""What the mouse does: one gesture, one object."""
