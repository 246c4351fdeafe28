"""What is written on a Doc and read from it: span groups, extensions, resolved text."""
