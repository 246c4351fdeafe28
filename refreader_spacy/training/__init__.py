"""From annotated text to a gradient: corpora, gold links, loss, schedules."""
