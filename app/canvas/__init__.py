"""The canvas: the net as nodes and wires, and the gestures that edit it."""
