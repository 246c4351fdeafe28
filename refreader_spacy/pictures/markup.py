"""Shared by pictures: colours, escaping, the page around a fragment."""

from __future__ import annotations

import re
from html import escape

# Okabe and Ito's colours, which the colour-blind can tell apart; the likest far apart.
HUES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442")
# The same for lines and letters: dark enough on white, and light enough on black.
INKS = ("#0072b2", "#9a6400", "#007a5a", "#a8487f", "#2a7fb8", "#b84a00", "#857a00")
GLOWS = ("#4aa8e0", "#e69f00", "#1cbf90", "#dd92ba", "#8fcdf2", "#f08a40", "#f0e442")

FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
LONGEST = 40  # characters of a mention, where it is named

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>refreader</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0 auto; padding: 1.5rem 1.25rem 4rem; max-width: 48rem;
  font: 1.06rem/1.5 system-ui, sans-serif;
  color: #1b1d21; background: #fff; }}
@media screen and (prefers-color-scheme: dark) {{
  body {{ color: #e4e6ea; background: #16181c; }} }}
@media print {{ :root {{ color-scheme: light; }}
  body {{ max-width: none; padding: 0; }} }}
</style>
</head>
<body>
{picture}
</body>
</html>
"""


def html_page(picture: str) -> str:
    """A whole page, for a file of its own."""
    return PAGE.format(picture=picture)


def escaped(text: str) -> str:
    """Text escaped for HTML and XML, without characters that they don't allow."""
    return escape(FORBIDDEN.sub("\ufffd", text))


def shortened(text: str, length: int = LONGEST) -> str:
    """The text in one line, cut to a maximal length."""
    words = " ".join(text.split())
    return words if len(words) <= length else words[: length - 1].rstrip() + "…"
