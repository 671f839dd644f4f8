"""The rows of a form: a label, an editor, and what is said of them."""
