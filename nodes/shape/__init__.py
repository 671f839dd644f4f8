"""Layers that declare, copy, join or rearrange blobs."""
