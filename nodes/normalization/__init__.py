"""Layers that shift and scale: by statistics, by neighbours, by learned factors."""
