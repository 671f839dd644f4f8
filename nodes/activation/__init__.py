"""Elementwise layers, and softmax."""
