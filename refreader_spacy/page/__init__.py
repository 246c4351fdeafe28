"""The web page that shows how a text is read. `refreader serve` serves it."""
