// Draws the text: mentions coloured by entity, what is still unread pale, links as arcs.
//
// A text is cut into chunks of lines. Only those in view get their mentions drawn, and
// playing changes colours only, never the layout.

import { lowerBound, percent } from "./reading.js";

const CHUNK = 600; // characters, and then to the end of the line
const LONGEST = 2000; // where a line has no end
const N_HUES = 7;
const SVG = "http://www.w3.org/2000/svg";
const STAYS = 8; // tokens for which a link is shown after it was made

export class TextView {
  constructor(box) {
    this.box = box;
    this.overlay = document.createElementNS(SVG, "svg");
    this.overlay.setAttribute("class", "overlay");
    this.overlay.setAttribute("aria-hidden", "true");
    this.arc = this.overlay.appendChild(document.createElementNS(SVG, "path"));
    this.arc.setAttribute("pathLength", "1");
    this.bubble = document.createElement("div");
    this.bubble.className = "bubble";
    this.bubble.hidden = true;
    this.bubble.dir = "auto";
    this.highlights = {};
    if (globalThis.CSS?.highlights)
      for (const name of ["now", "ahead"])
        CSS.highlights.set(name, (this.highlights[name] = new Highlight()));
    this.ranges = { now: document.createRange(), ahead: document.createRange() };
    this.observer = new IntersectionObserver((entries) => this.#seen(entries), {
      root: box, rootMargin: "800px",
    });
    new ResizeObserver(() => {
      this.shown = null;
      this.#showLink(this.#linkAt(this.position), false);
    }).observe(box);
    box.addEventListener("pointerover", (event) => this.#point(event.target));
    box.addEventListener("pointerleave", () => this.#point(null));
    this.clear();
  }

  clear() {
    this.observer.disconnect();
    this.reading = null;
    this.chunks = [];
    this.position = 0;
    this.lit = null;
    this.pointed = null;
    this.shown = null;
    this.box.replaceChildren();
    this.box.scrollTop = 0;
    for (const highlight of Object.values(this.highlights)) highlight.clear();
  }

  start(reading) {
    this.clear();
    this.reading = reading;
    this.box.append(this.overlay, this.bubble);
  }

  // More tokens have come.
  extend() {
    let chunk = this.chunks[this.chunks.length - 1];
    for (let token = chunk ? chunk.last : 0; token < this.reading.length; token++) {
      if (!chunk || chunk.isFull) chunk = this.#open(token);
      chunk.last = token + 1;
      const size = this.reading.starts[token + 1] - this.reading.starts[chunk.first];
      const isLineEnd = this.reading.tokens[token].includes("\n");
      chunk.isFull = size >= LONGEST || (isLineEnd && size >= CHUNK);
    }
    this.regroup();
  }

  #open(token) {
    const element = document.createElement("div");
    element.className = "chunk";
    element.dir = "auto";
    const chunk = {
      first: token, last: token, drawn: token, element, marks: new Map(), pieces: [],
      isFull: false, isStale: true, isVisible: false,
    };
    this.chunks.push(chunk);
    element.chunk = chunk;
    this.box.insertBefore(element, this.overlay);
    this.observer.observe(element);
    return chunk;
  }

  #seen(entries) {
    for (const entry of entries) {
      const { chunk } = entry.target;
      chunk.isVisible = entry.isIntersecting;
      if (chunk.isVisible && chunk.isStale) this.#draw(chunk);
    }
    this.#colour();
  }

  // Who is who has changed; what is out of view can wait.
  regroup() {
    for (const chunk of this.chunks) {
      chunk.isStale = true;
      const isShort = chunk.drawn !== chunk.last;
      if (chunk.isVisible || chunk.marks.size || isShort) this.#draw(chunk);
    }
    this.lit = null;
    this.#colour();
    this.#showLink(this.#linkAt(this.position), false);
  }

  #draw(chunk) {
    const { reading } = this;
    const parts = [];
    chunk.marks = new Map();
    chunk.pieces = []; // which text node holds which characters
    const put = (parent, first, start, end) => {
      if (start === end) return;
      const node = document.createTextNode(this.#slice(first, start, end));
      chunk.pieces.push({ node, start, end });
      if (parent) parent.append(node);
      else parts.push(node);
    };
    let token = chunk.first, at = reading.starts[token];
    const mentions = chunk.isVisible ? reading.mentionsIn(chunk.first, chunk.last) : [];
    const open = []; // marks that are inside one another
    const inner = () => open[open.length - 1];
    // Marks can't cross: one of no entity ends where a mention begins that goes on
    const closeUntil = (start, stop) => {
      while (open.length && (inner().end <= start || (inner().isLone && inner().end < stop))) {
        const { mark, end } = open.pop();
        const last = Math.min(end, start);
        put(mark, token, at, last);
        at = last;
      }
    };
    for (const mention of mentions) {
      const start = reading.starts[mention.start];
      const end = start + reading.textOf(mention).length;
      closeUntil(start, end);
      put(inner()?.mark ?? null, token, at, start);
      const mark = this.#mark(mention);
      if (open.length) inner().mark.append(mark);
      else parts.push(mark);
      const isLone = !mention.entity.number;
      open.push({ mark, end: Math.min(end, inner()?.end ?? end), isLone });
      chunk.marks.set(mention, mark);
      token = mention.start;
      at = start;
    }
    closeUntil(Infinity, Infinity);
    put(null, token, at, reading.starts[chunk.last]);
    chunk.element.replaceChildren(...parts);
    chunk.drawn = chunk.last;
    chunk.isStale = !chunk.isVisible;
  }

  // Characters from start to end; first is a token that begins at start or before it.
  #slice(first, start, end) {
    const { starts } = this.reading;
    const last = lowerBound(starts, end, (value) => value);
    return this.reading.text(first, last).slice(start - starts[first], end - starts[first]);
  }

  #mark(mention) {
    const { entity } = mention;
    const mark = document.createElement("mark");
    mark.mention = mention;
    if (!entity.number) {
      mark.className = "lone";
      return mark;
    }
    mark.className = entityLook(entity);
    mark.dataset.e = entity.number;
    mark.setAttribute("aria-description", describe(this.reading, mention));
    return mark;
  }

  // The state after so many tokens.
  moveTo(position) {
    if (!this.reading) return;
    const before = this.position;
    this.position = position;
    this.#colour();
    this.#showLink(this.#linkAt(position), position === before + 1);
  }

  chunkOf(token) {
    const next = lowerBound(this.chunks, token + 1, (chunk) => chunk.first);
    return this.chunks[next - 1];
  }

  #colour() {
    const { position, reading } = this;
    for (const chunk of this.chunks) {
      const isAhead = chunk.first >= position;
      if (chunk.isAhead !== isAhead) chunk.element.classList.toggle("ahead", isAhead);
      chunk.isAhead = isAhead;
      if (!chunk.isVisible || isAhead) continue;
      for (const [mention, mark] of chunk.marks) {
        const is = mention.end > position;
        if (mark.isAhead !== is) mark.classList.toggle("ahead", is);
        mark.isAhead = is;
      }
    }
    const chunk = this.chunkOf(position - 1);
    const isMiddle = position < reading.length && chunk?.pieces.length;
    for (const [name, highlight] of Object.entries(this.highlights))
      if (isMiddle) highlight.add(this.ranges[name]);
      else highlight.clear();
    if (!isMiddle) return;
    const start = reading.starts[position - 1];
    const end = start + reading.tokens[position - 1].trimEnd().length;
    setRange(this.ranges.now, chunk, start, end);
    setRange(this.ranges.ahead, chunk, reading.starts[position], reading.starts[chunk.last]);
  }

  // Scroll so that the last of so many tokens is in view. It measures, so call it before
  // anything is changed.
  follow(position) {
    const { reading, box } = this;
    if (!position || !reading) {
      box.scrollTop = 0;
      return;
    }
    const chunk = this.chunkOf(position - 1);
    if (!chunk.isVisible) this.#bring(chunk);
    const start = reading.starts[position - 1];
    const place = setRange(document.createRange(), chunk, start, start + 1).getBoundingClientRect();
    const room = box.getBoundingClientRect();
    if (place.top < room.top + 24 || place.bottom > room.bottom - 40) this.#scroll(place, room);
  }

  #bring(chunk) {
    this.box.scrollTop = chunk.element.offsetTop - 40;
    chunk.isVisible = true;
    if (chunk.isStale) this.#draw(chunk);
    this.#colour();
  }

  #scroll(place, room) {
    this.box.scrollTop += place.top - room.top - room.height * 0.35;
  }

  // The link that was made last, if that is not long ago.
  #linkAt(position) {
    if (!this.reading || position >= this.reading.length) return null;
    const recent = this.reading.mentionsIn(position - STAYS, position);
    return recent.findLast((mention) => mention.to && mention.end <= position) ?? null;
  }

  #point(target) {
    const mark = target?.closest?.("mark");
    this.pointed = mark?.mention ?? null;
    this.#showLink(this.pointed ?? this.#linkAt(this.position), false);
    this.light(this.pointed?.entity ?? null);
  }

  // Let one entity stand out, or none.
  light(entity) {
    if (entity && !entity.number) entity = null;
    if (entity === this.lit) return;
    this.lit = entity;
    this.box.classList.toggle("lighting", Boolean(entity));
    for (const chunk of this.chunks)
      if (chunk.isVisible)
        for (const [mention, mark] of chunk.marks)
          mark.classList.toggle("lit", mention.entity === entity);
  }

  #showLink(mention, springs) {
    if (mention === this.shown) return;
    this.shown = mention;
    const from = mention?.entity.number && this.#markOf(mention);
    this.bubble.hidden = !from;
    this.arc.removeAttribute("d");
    if (!from) return;
    const hue = `hue${(mention.entity.number - 1) % N_HUES}`;
    this.bubble.className = `bubble ${hue}`;
    this.bubble.textContent = mention.to
      ? `${percent(mention.probability)} → ${this.reading.textOf(mention.to)}`
      : `${mention.entity.name}, ${mention.entity.mentions.length} mentions`;
    const to = mention.to && this.#markOf(mention.to);
    const area = this.box.getBoundingClientRect();
    const a = middleOf(from, area, this.box), b = to && middleOf(to, area, this.box);
    const left = Math.min(a.x - 10, this.box.clientWidth - this.bubble.offsetWidth - 4);
    this.bubble.style.transform = `translate(${Math.max(2, left)}px, ${a.bottom + 3}px)`;
    if (b) {
      // Above the words of a line, or from below one line to above another
      const rise = Math.min(34, 12 + Math.abs(a.x - b.x) / 9);
      const [start, bend] = b.bottom < a.y ? [b.bottom, -rise] : [b.y, rise];
      this.arc.setAttribute("class", `${hue}${springs ? " arrived" : ""}`);
      this.arc.setAttribute("d",
        `M${b.x},${start} C${b.x},${start - bend} ${a.x},${a.y - rise} ${a.x},${a.y}`);
    }
    if (springs && !isStill.matches) {
      const at = this.bubble.style.transform;
      this.bubble.animate(
        [{ transform: `${at} scale(.4)` }, { transform: `${at} scale(1.12)` }, { transform: at }],
        { duration: 260, easing: "ease-out" },
      );
    }
  }

  #markOf(mention) {
    return this.chunkOf(mention.start)?.marks.get(mention);
  }

  // Bring a mention into view.
  scrollTo(mention) {
    this.#bring(this.chunkOf(mention.start));
    this.#scroll(this.#markOf(mention).getBoundingClientRect(), this.box.getBoundingClientRect());
  }
}

export const isStill = matchMedia("(prefers-reduced-motion: reduce)");

export function entityLook({ number }) {
  const round = Math.floor((number - 1) / N_HUES) % 3;
  return `hue${(number - 1) % N_HUES} round${round}`;
}

export function describe(reading, mention) {
  const { entity, to, probability } = mention;
  const name = `${entity.number}, ${entity.name}`;
  return to ? `${name}: means ${reading.textOf(to)}, ${percent(probability)}` : name;
}

function setRange(range, chunk, start, end) {
  range.setStart(...placeOf(chunk, start, false));
  range.setEnd(...placeOf(chunk, end, true));
  return range;
}

// The text node that holds a character. At an edge: the one before, or the one after.
function placeOf({ pieces }, character, isEnd) {
  const next = lowerBound(pieces, isEnd ? character : character + 1, (piece) => piece.end);
  const piece = pieces[Math.min(next, pieces.length - 1)];
  return [piece.node, Math.min(character - piece.start, piece.node.length)];
}

function middleOf(mark, area, box) {
  const [first] = mark.getClientRects();
  const x = first.left - area.left + box.scrollLeft + first.width / 2;
  const y = first.top - area.top + box.scrollTop;
  return { x, y: y - 1, bottom: y + first.height };
}
