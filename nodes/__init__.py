"""The built-in layer types."""
