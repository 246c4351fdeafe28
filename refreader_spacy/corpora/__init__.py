"""Data in and out: GAP, CoNLL-2012, biographies, Wikipedia pages, assets."""
