"""Data in and out: GAP, CoNLL-2012, CorefUD, jsonlines, CRAFT, plain text, assets."""
