"""The docks around the canvas, their room, and putting them away."""
