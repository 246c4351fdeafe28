"""The page: watch the reader read, in a browser. `refreader serve` opens it."""
