"""Word lists and rules, by language."""
