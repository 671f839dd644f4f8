"""Small parts that several panels are made of; they know the theme, and nothing of the panels."""
