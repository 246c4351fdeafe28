"""From a reader's decisions to links, mention spans and clusters."""
