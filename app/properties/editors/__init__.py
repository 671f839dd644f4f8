"""Editors for one value, by what it is: text, number, choice, list, or several lines."""
