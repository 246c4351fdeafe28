"""The style sheet and the script of the clusters picture."""

from __future__ import annotations

from refreader_spacy.pictures.markup import HUES

COLOURS = "\n".join(f".hue{i} {{ --hue: {hue}; }}" for i, hue in enumerate(HUES))


def tint(hue: str, percent: int) -> str:
    """A transparent colour, for light and dark backgrounds."""
    return f"color-mix(in srgb, var({hue}) {percent}%, transparent)"


# Everything is nested below one class, as a notebook has one style sheet for all.
STYLE = f"""
.refreader-clusters {{ position: relative;
{COLOURS}
.text {{ white-space: pre-wrap; overflow-wrap: anywhere; line-height: 2.1;
  unicode-bidi: plaintext; }}
mark {{ color: inherit; padding: .12em .2em calc(.1em + var(--down)); margin: 0 1px;
  background: {tint("--hue", 24)}; border-radius: .3em .3em 0 0;
  border-bottom: .14em solid var(--hue); cursor: default; outline: 0 solid var(--hue);
  -webkit-box-decoration-break: clone; box-decoration-break: clone;
  print-color-adjust: exact; transition: background .12s, opacity .12s; }}
mark::after {{ content: attr(data-e); font-size: .62em; font-weight: 700;
  vertical-align: super; line-height: 0; margin-left: .18em; opacity: .8; }}
.over1 {{ --down: .22em; }} .over2 {{ --down: .44em; }}
.over3 {{ --down: .66em; }} .over4 {{ --down: .88em; }}
mark:not([class*=over]) {{ --down: 0em; }}
.round1 {{ border-bottom-style: dashed; }} .round2 {{ border-bottom-style: dotted; }}
mark.lone {{ background: none; border-bottom-width: .08em; }}
mark:hover, mark:focus-visible {{ outline-width: .1em; }}
&.lighting mark {{ opacity: .55; }}
&.lighting mark.lit, &.lighting mark:has(.lit), &.lighting mark mark {{ opacity: 1; }}
mark.lit {{ background: {tint("--hue", 50)}; }}
.legend {{ list-style: none; display: flex; flex-wrap: wrap; gap: .4em .5em;
  padding: .8em 0 0; margin: 1em 0 0; font-size: .85em; line-height: 1.5;
  border-top: 1px solid rgb(128 128 128 / .3); }}
.legend li {{ margin: 0; padding: .05em .5em; border-left: .3em solid var(--hue, #999);
  background: {tint("--hue, #999", 16)}; border-radius: .15em;
  cursor: default; print-color-adjust: exact; overflow-wrap: anywhere; }}
.legend li::before {{ content: attr(data-e); font-weight: 700; margin-right: .45em; }}
.legend .round1 {{ border-left-style: dashed; }}
.legend .round2 {{ border-left-style: dotted; }}
.legend .lit {{ background: {tint("--hue", 45)}; }}
.legend small, .none {{ opacity: .75; }}
.bubble {{ position: absolute; z-index: 2; max-width: 20em; width: max-content;
  padding: .35em .7em; border-radius: .4em; font-size: .85em; line-height: 1.4;
  white-space: pre-line; overflow-wrap: anywhere; pointer-events: none;
  color: #fff; background: #24272d; box-shadow: 0 2px 10px rgb(0 0 0 / .35);
  border: 1px solid rgb(255 255 255 / .18); }}
.arc {{ position: absolute; inset: 0; width: 100%; height: 100%; overflow: visible;
  pointer-events: none; fill: none; stroke: var(--hue); stroke-width: 2.5;
  stroke-linecap: round; z-index: 1; }}
[hidden] {{ display: none; }}
@media print {{ .bubble, .arc {{ display: none; }} .text {{ line-height: 1.9; }} }}
@media (prefers-reduced-motion) {{ mark {{ transition: none; }} }}
}}
"""

SCRIPT = """
for (const root of document.querySelectorAll(".refreader-clusters:not([data-live])")) {
  root.dataset.live = "";
  const bubble = root.appendChild(document.createElement("div"));
  bubble.className = "bubble";
  bubble.hidden = true;
  const arc = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = arc.appendChild(document.createElementNS(arc.namespaceURI, "path"));
  arc.setAttribute("class", "arc");
  arc.setAttribute("aria-hidden", "true");
  root.append(arc);
  const marks = root.querySelectorAll("mark");
  const few = marks.length < 1000; // or else dimming all others takes too long
  for (const mark of marks) {
    mark.setAttribute("aria-description", mark.title);
    mark.removeAttribute("title");
  }
  const box = (mark, last) => {
    const all = mark.getClientRects(), area = root.getBoundingClientRect();
    const one = all[last ? all.length - 1 : 0];
    const x = one.left - area.left, y = one.top - area.top;
    return { x, y, middle: x + one.width / 2, bottom: y + one.height };
  };
  const drawArc = (from, to) => {
    const a = box(from), b = box(to);
    const rise = Math.min(34, 10 + Math.abs(a.middle - b.middle) / 8);
    path.setAttribute("d", `M${a.middle},${a.y} C${a.middle},${a.y - rise} ` +
      `${b.middle},${b.y - rise} ${b.middle},${b.y}`);
    arc.style.setProperty("--hue", getComputedStyle(from).getPropertyValue("--hue"));
  };
  const show = (item) => {
    for (const mark of root.querySelectorAll(".lit")) mark.classList.remove("lit");
    root.classList.toggle("lighting", few && Boolean(item));
    path.removeAttribute("d");
    const about = item && item.getAttribute("aria-description");
    bubble.hidden = !about;
    if (!item) return;
    for (const mark of root.querySelectorAll(`[data-e="${item.dataset.e}"]`))
      mark.classList.add("lit");
    if (!about) return;
    bubble.textContent = about;
    const at = box(item, true), room = root.clientWidth - bubble.offsetWidth;
    bubble.style.left = `${Math.max(0, Math.min(at.x, room))}px`;
    bubble.style.top = `${at.bottom + 5}px`;
    const to = item.dataset.to && root.querySelector(`[data-m="${item.dataset.to}"]`);
    if (to) drawArc(item, to);
  };
  const item = (event) => event.target.closest("[data-e]");
  root.addEventListener("pointerover", (event) => show(item(event)));
  root.addEventListener("pointerleave", () => show(null));
  root.addEventListener("focusin", (event) => show(item(event)));
  root.addEventListener("focusout", () => show(null));
  root.addEventListener("keydown", (event) => event.key === "Escape" && show(null));
}
"""
