"""Callbacks for `spacy train`: where it starts, schedules, kept features."""
