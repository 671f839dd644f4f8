"""Two nets side by side: what was added, removed, renamed and changed between them."""
