"""How a user begins: the welcome page, examples, templates and the tour."""
