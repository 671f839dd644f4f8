"""Layers over images: convolution and pooling."""
