"""From annotated text to a gradient: gold links, loss, schedules."""
