"""Keys of the span groups that gold annotation uses."""

PREFIX = "coref_clusters"  # an entity each, numbered from 1
SPEAKERS = "speakers"  # a span for each turn
ANNOTATION = "annotation"  # one span over all: by which scheme it was annotated
UNSURE = "coref_unsure"  # whether its spans corefer isn't known
