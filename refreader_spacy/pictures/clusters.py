"""The clusters picture as HTML: the text, its mentions coloured by entity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spacy.tokens import Doc

from refreader_spacy.pictures.clusters_look import SCRIPT, STYLE
from refreader_spacy.pictures.entities import Drawn, Entity, entities
from refreader_spacy.pictures.markup import escaped, shortened

N_NAMED = 24  # entities in the legend
DEEPEST = 4  # levels of nesting that get a line of their own

FRAGMENT = """\
<div class="refreader-clusters">
<style>{style}</style>
<div class="text" dir="auto">{text}</div>
{legend}
<script>{script}</script>
</div>"""


def clusters_html(doc: Doc) -> str:
    """A fragment for a page or a notebook; hovering shows links, if scripts may run.

    Without scripts, a mention's title shows what it is linked to.
    """
    found, drawn = entities(doc)
    text = doc.text
    return FRAGMENT.format(
        style=STYLE,
        text="".join(marked_up(text, drawn)),
        legend=legend(found, drawn),
        script=SCRIPT,
    )


def marked_up(text: str, drawn: Sequence[Drawn]) -> Iterator[str]:
    """The text in pieces of HTML; a mention that crosses another one is split."""
    titles = [mention_title(text, mention, drawn) for mention in drawn]
    opened: list[int] = []
    position = 0
    for place, start in [*((i, m.start) for i, m in enumerate(drawn)), (-1, len(text))]:
        while opened and (end := min(drawn[i].end for i in opened)) <= start:
            yield escaped(text[position:end])
            position = end
            outermost = next(k for k, i in enumerate(opened) if drawn[i].end == end)
            inner = opened[outermost:]
            opened[outermost:] = [i for i in inner if drawn[i].end > end]
            yield "</mark>" * len(inner)
            yield from (tag(i, drawn[i], titles[i]) for i in opened[outermost:])
        yield escaped(text[position:start])
        position = start
        if place >= 0:
            opened.append(place)
            yield tag(place, drawn[place], titles[place])


def tag(place: int, mention: Drawn, title: str) -> str:
    """The opening tag of a mention."""
    to = "" if mention.antecedent is None else f' data-to="{mention.antecedent}"'
    return (
        f'<mark class="{classes(mention)}" data-e="{mention.entity.number}"'
        f' data-m="{place}"{to} tabindex="0" title="{title}">'
    )


def classes(mention: Drawn) -> str:
    names = [f"hue{mention.hue}"]
    if mention.round:
        names.append(f"round{mention.round}")
    if mention.levels:
        names.append(f"over{min(mention.levels, DEEPEST)}")
    if mention.entity.size == 1:
        names.append("lone")
    return " ".join(names)


def mention_title(text: str, mention: Drawn, drawn: Sequence[Drawn]) -> str:
    """The tooltip of a mention."""
    entity = mention.entity
    title = f"{entity.number} · {entity.name}"
    if mention.antecedent is not None:
        antecedent = drawn[mention.antecedent]
        words = shortened(text[antecedent.start : antecedent.end])
        title += f"\n→ {words}, {percent(mention.probability)}"
    elif entity.size > 1:
        title += f"\n{entity.size} mentions"
    return escaped(title)


def percent(probability: float) -> str:
    """No more figures than matter: 83 %, but 0.7 %."""
    return f"{100 * probability:.{0 if probability >= 0.0995 else 1}f} %"


def legend(found: Sequence[Entity], drawn: Sequence[Drawn]) -> str:
    """The entities with most mentions, in text order."""
    if not found:
        return '<p class="none">No two mentions of one entity were found.</p>'
    largest = sorted(found, key=lambda entity: -entity.size)[:N_NAMED]
    looks = {mention.entity: classes(mention) for mention in reversed(drawn)}
    items = [
        f'<li data-e="{entity.number}" class="{looks[entity]}">'
        f"{escaped(entity.name)} <small>&times; {entity.size}</small></li>"
        for entity in sorted(largest)
    ]
    if len(found) > N_NAMED:
        items.append(f'<li class="more">and {len(found) - N_NAMED} more</li>')
    return f'<ul class="legend" aria-label="Entities">{"".join(items)}</ul>'
