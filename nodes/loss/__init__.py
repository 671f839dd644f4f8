"""Losses and scores."""
