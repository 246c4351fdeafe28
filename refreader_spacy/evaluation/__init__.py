"""Cluster metrics, GAP's metric, thresholds, comparisons, baselines, scorers."""
