"""What changes the net or its picture, as steps of undo."""
