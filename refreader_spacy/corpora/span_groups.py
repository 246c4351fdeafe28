"""Keys of the span groups that gold annotation uses besides the clusters' own."""

UNSURE = "coref_unsure"  # whether its spans corefer isn't known
