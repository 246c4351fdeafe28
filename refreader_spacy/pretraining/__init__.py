"""Learning from plain text: the whole reader predicts the next word."""
