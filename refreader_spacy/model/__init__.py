"""The Referential Reader itself: encoders, memory, recurrence, link probabilities."""
