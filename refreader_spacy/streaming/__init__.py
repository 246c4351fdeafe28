"""A text that is read as it arrives: buffer, events, save and resume."""
