"""The solver of a net: its file as an edited document, its settings as a form, and the learning rate as a picture."""
