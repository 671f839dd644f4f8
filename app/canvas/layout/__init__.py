"""What a layout is: places and ways for wires, from sizes and links alone."""
