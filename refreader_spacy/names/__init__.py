"""A reader that keeps people apart by their names: more cells, and what is said of each
is remembered as it was decided, not as a mixture.

The recurrent unit's hidden state is all it reads with; its memory doesn't speak back.
What each token says (`network`) is turned into decisions by `memory`, one after the
other; `lesson` tells in training what they should have been.
"""
