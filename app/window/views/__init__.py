"""What is looked at, how it is drawn, and with what it is compared."""
