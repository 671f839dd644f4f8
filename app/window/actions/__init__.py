"""What the window can do, as actions: the table, menus, toolbar, and what each does."""
