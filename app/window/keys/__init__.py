"""What the keyboard does in the window: shortcuts, the command palette, and the way around the parts."""
