"""The paper's reader: memory, recurrence, link probabilities."""
