// Draws the memory: a card for each cell, and a chart of what happened to them.

import { entityLook, isStill } from "./text.js";

const ACTS = 0.1; // a gate from which a token is said to have done something
const EMPTY = 0.05; // a salience below which a cell is said to hold nothing
const MANY = 8; // cells in use, beyond which those of what was mentioned once are pale and small
const STEP = 26; // pixels for each token
const NOW = 0.9; // where the last token read is, of the chart's width
const WORD = { width: 66, height: 78, right: 58, top: 10 }; // room for a turned word
const SHAPES = ["M8 1a7 7 0 1 0 .01 0z", "M2 2h12v12H2z", "M8 1l7 13H1z", "M8 0l8 8-8 8-8-8z", "M8 15L1 2h14z"];

export class MemoryView {
  constructor(list, canvas) {
    this.list = list;
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.cells = [];
    this.reading = null;
    this.shapes = SHAPES.map((path) => new Path2D(path));
    new ResizeObserver(() => this.#resize()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#resize());
  }

  start(reading) {
    this.reading = reading;
    this.position = 0;
    this.shown = 0;
    this.glide = 0;
    if (this.cells.length !== reading.nCells) {
      this.cells = Array.from({ length: reading.nCells }, (_, cell) => new Cell(cell));
      this.list.replaceChildren(...this.cells.map((cell) => cell.element));
    }
    this.#resize();
  }

  // Draw the chart after so many tokens; glide is how far the way to the next is gone.
  chart(position, glide) {
    this.position = position;
    this.glide = isStill.matches ? 0 : glide;
    this.#draw();
  }

  // Show what the cells hold after so many tokens.
  moveTo(position) {
    const isStep = position === this.shown + 1;
    this.shown = position;
    const used = this.cells.filter(({ number }) => this.reading.cell(position, number).salience >= EMPTY);
    for (const cell of this.cells) cell.show(this.reading, position, isStep, used.length > MANY);
  }

  #resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    const ratio = Math.min(devicePixelRatio, 2);
    if (!width || !this.reading) return;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.size = { width, height, ratio };
    this.words = new Map(); // drawn once in these colours and at this size
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    this.colours = {
      ink: colour("--ink"), soft: colour("--soft"), line: colour("--line"),
      cells: this.cells.map((cell) => colour(`--cell${cell.hue}`)),
      hues: [0, 1, 2, 3, 4, 5, 6].map((hue) => colour(`--hue${hue}`)),
    };
    this.#draw();
  }

  #draw() {
    if (!this.size || !this.reading) return;
    const { pen, reading, colours } = this;
    const { width, height, ratio } = this.size;
    const panel = (height - 96) / 2;
    const top = 18, salience = top + panel, gates = salience + panel + 20;
    const last = this.position - 1;
    const now = width * NOW, x = (token) => now + (token - last - this.glide) * STEP;
    const first = Math.max(0, last - Math.ceil(now / STEP));
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "left";
    pen.fillStyle = colours.soft;
    pen.fillText("salience: how present each cell is", 8, 13);
    pen.fillText("gates: what each token does", 8, salience + 16);
    pen.strokeStyle = colours.line;
    pen.lineWidth = 1;
    pen.beginPath();
    for (const y of [salience, gates]) {
      pen.moveTo(0, y + 0.5);
      pen.lineTo(width, y + 0.5);
    }
    pen.stroke();
    if (last < 0) return;
    const { length } = this.cells;
    const apart = Math.min(4, 12 / Math.max(1, length - 1));
    this.cells.forEach((_, cell) => {
      const at = (token) => token * reading.nCells + cell;
      const { isPale } = this.cells[cell];
      const colour = isPale ? colours.line : colours.cells[cell];
      const height = (token) => (panel - 4) * reading.salience[at(token)];
      this.#curve(first, last, x, (token) => salience - height(token), (token) => reading.salience[at(token)] >= EMPTY, colour, isPale ? 1 : 2);
      for (let token = first; token <= last; token++)
        this.#stem(x(token) + apart * (cell - (length - 1) / 2), gates, panel - 6, reading.update[at(token)], reading.overwrite[at(token)], colours.cells[cell]);
      if (reading.salience[at(last)] >= EMPTY && !isPale) this.#sign(cell, x(last), salience - height(last), colour);
    });
    this.#words(first, last, x, gates + 9);
  }

  // Where a cell is empty there is no line.
  #curve(first, last, x, y, isThere, colour, thickness) {
    const { pen } = this;
    pen.strokeStyle = colour;
    pen.lineWidth = thickness;
    pen.lineJoin = "round";
    pen.beginPath();
    for (let token = first; token <= last; token++) {
      if (!isThere(token)) continue;
      if (token > first && isThere(token - 1)) pen.lineTo(x(token), y(token));
      else pen.moveTo(x(token), y(token));
    }
    if (isThere(last)) pen.lineTo(x(last + this.glide), y(last));
    pen.stroke();
  }

  // A bar for each gate that is more than a pixel high: updates full, overwrites dashed.
  #stem(x, zero, room, update, overwrite, colour) {
    const { pen } = this;
    pen.strokeStyle = colour;
    pen.fillStyle = colour;
    if (update * room > 1) {
      pen.fillRect(x - 3.5, zero - room * update, 3, room * update);
    }
    if (overwrite * room > 1) {
      pen.lineWidth = 3;
      pen.setLineDash([4, 2.5]);
      pen.beginPath();
      pen.moveTo(x + 2, zero);
      pen.lineTo(x + 2, zero - room * overwrite);
      pen.stroke();
      pen.setLineDash([]);
    }
  }

  #sign(cell, x, y, colour) {
    const { pen } = this;
    pen.save();
    pen.translate(x - 5, y - 5);
    pen.scale(0.62, 0.62);
    pen.fillStyle = colour;
    pen.fill(this.shapes[cell % SHAPES.length]);
    pen.restore();
  }

  #words(first, last, x, y) {
    const { pen, reading, colours } = this;
    const { ratio } = this.size;
    for (let token = first; token <= last; token++) {
      const word = reading.tokens[token].trim();
      if (!word) continue;
      const entity = reading.mentionOf.get(token)?.entity;
      const isKnown = Boolean(entity?.number);
      const left = Math.round((x(token) + 4 - WORD.right) * ratio) / ratio;
      pen.drawImage(this.#word(word, isKnown || token === last), left, y - WORD.top, WORD.width, WORD.height);
      if (!isKnown) continue;
      pen.fillStyle = colours.hues[(entity.number - 1) % colours.hues.length];
      pen.fillRect(x(token) - 6, y - 8, 12, 3);
    }
  }

  // A turned word is slow to draw, so it is drawn once and copied from then on.
  #word(word, isStrong) {
    const key = `${isStrong ? "+" : "-"}${word}`;
    const known = this.words.get(key);
    if (known) return known;
    const { ratio } = this.size;
    const drawn = document.createElement("canvas");
    drawn.width = WORD.width * ratio;
    drawn.height = WORD.height * ratio;
    const pen = drawn.getContext("2d");
    pen.scale(ratio, ratio);
    pen.translate(WORD.right, WORD.top);
    pen.rotate(-0.9);
    pen.font = `${isStrong ? 650 : 400} 11px system-ui, sans-serif`;
    pen.fillStyle = isStrong ? this.colours.ink : this.colours.soft;
    pen.textAlign = "right";
    pen.fillText(word.length > 11 ? `${word.slice(0, 10)}…` : word, 0, 6);
    if (this.words.size > 2000) this.words.clear();
    this.words.set(key, drawn);
    return drawn;
  }
}

class Cell {
  constructor(number) {
    this.number = number;
    this.hue = number % 5;
    this.element = document.createElement("li");
    this.element.className = "cell";
    this.element.style.setProperty("--cell", `var(--cell${this.hue})`);
    const name = this.#child(this.element, "div", "name");
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 16 16");
    svg.setAttribute("aria-hidden", "true");
    svg.appendChild(document.createElementNS(svg.namespaceURI, "path"))
      .setAttribute("d", SHAPES[number % SHAPES.length]);
    name.append(svg, `cell ${number}`);
    this.did = this.#child(name, "span", "did");
    this.holds = this.#child(this.element, "span", "holds");
    this.holds.dir = "auto";
    const meters = this.#child(this.element, "div", "meters");
    this.meters = {};
    for (const gate of ["salience", "update", "overwrite"]) {
      this.#child(meters, "span").textContent = gate;
      const bar = this.#child(this.#child(meters, "div", `meter ${gate}`), "i");
      this.meters[gate] = { bar, value: this.#child(meters, "b") };
    }
  }

  #child(parent, tag, name = "") {
    const child = parent.appendChild(document.createElement(tag));
    if (name) child.className = name;
    return child;
  }

  show(reading, position, isStep, isOneOfMany) {
    const state = reading.cell(position, this.number);
    for (const [gate, { bar, value }] of Object.entries(this.meters)) {
      bar.style.transform = `scaleX(${Math.min(1, state[gate]).toFixed(3)})`;
      set(value, state[gate].toFixed(2));
    }
    const did = state.overwrite >= ACTS && state.overwrite >= state.update
      ? "overwritten" : state.update >= ACTS ? "updated" : "";
    set(this.did, did);
    const { look, words, entity } = this.#held(reading, state, position);
    // Entities in the order of the text, then what was mentioned once
    this.element.style.order = entity?.number || reading.entities.length + 1;
    this.isPale = isOneOfMany && !entity;
    this.element.classList.toggle("pale", this.isPale);
    set(this.holds, words);
    if (this.holds.className !== look) this.holds.className = look;
    // Of many cells only those that hold something are shown
    this.element.hidden = this.number > 1 && look === "holds empty" && !did;
    if (did && isStep && !isStill.matches)
      this.element.animate(
        [{ backgroundColor: `color-mix(in srgb, var(--cell) ${did === "updated" ? 25 : 45}%, transparent)` }, {}],
        { duration: 450, easing: "ease-out" },
      );
  }

  #held(reading, { holds, salience }, position) {
    if (holds < 0 || salience < EMPTY) return { look: "holds empty", words: "empty" };
    const mention = reading.mentionOf.get(holds);
    // Who it is, if a name has been read by now; or else the word itself
    if (!mention || mention.end > position)
      return { look: "holds", words: reading.tokens[holds].trim() };
    const { entity } = mention;
    if (!entity.number) return { look: "holds", words: reading.textOf(mention) };
    const isNamed = entity.mentions.some((other) => other.end <= position && reading.textOf(other) === entity.name);
    const words = isNamed ? entity.name : reading.textOf(mention);
    return { look: `holds entity ${entityLook(entity)}`, words, entity };
  }
}

function set(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
