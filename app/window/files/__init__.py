"""Opening, saving and closing files, and what other programs do to them."""
