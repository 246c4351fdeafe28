// What was read so far: tokens, what the cells did at each, and who is who.

const NOBODY = { number: 0, name: "", mentions: [] };

export class Reading {
  constructor(nCells) {
    this.nCells = nCells;
    this.tokens = []; // each with the space after it
    this.starts = [0]; // characters before each token
    this.update = []; // token by token, a value for each cell
    this.overwrite = [];
    this.salience = [];
    this.holds = []; // the token that each cell holds, or -1
    this.isComplete = false;
    this.rawMentions = [];
    this.rawLinks = [];
    this.group([], []);
  }

  get length() {
    return this.tokens.length;
  }

  add(piece) {
    for (const token of piece.tokens) {
      this.tokens.push(token);
      this.starts.push(this.starts[this.starts.length - 1] + token.length);
    }
    this.#addCells(piece.cells);
    for (const mention of piece.mentions) this.rawMentions.push(mention);
    for (const link of piece.links) this.rawLinks.push(link);
  }

  // Changes are [token, cell, update, overwrite, salience, held token], by token. Gates
  // are of that token; the rest stays until the next change.
  #addCells(changes) {
    const { nCells } = this;
    let next = 0;
    for (let token = this.salience.length / nCells; token < this.length; token++) {
      const before = (token - 1) * nCells;
      for (let cell = 0; cell < nCells; cell++) {
        this.update.push(0);
        this.overwrite.push(0);
        this.salience.push(token ? this.salience[before + cell] : 0);
        this.holds.push(token ? this.holds[before + cell] : -1);
      }
      for (; next < changes.length && changes[next][0] === token; next++) {
        const [, cell, update, overwrite, salience, holds] = changes[next];
        const at = token * nCells + cell;
        this.update[at] = update;
        this.overwrite[at] = overwrite;
        this.salience[at] = salience;
        this.holds[at] = holds;
      }
    }
  }

  // Mentions are [start, end, entity, head], links [antecedent, anaphor, probability];
  // both in tokens. A link's ends are the heads of its mentions. Of nested mentions the
  // outer comes first.
  group(unsorted, links, names = []) {
    const mentions = [...unsorted].sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    this.rawMentions = mentions;
    this.rawLinks = links;
    this.mentions = mentions.map(([start, end]) => (
      { start, end, entity: NOBODY, to: null, probability: 0 }
    ));
    const byHead = new Map(this.mentions.map((mention, i) => [mentions[i][3], mention]));
    for (const [antecedent, anaphor, probability] of links) {
      const mention = byHead.get(anaphor);
      if (!mention || !byHead.has(antecedent)) continue; // not closed yet
      mention.to = byHead.get(antecedent);
      mention.probability = probability;
    }
    const found = new Map();
    mentions.forEach(([, , entity], i) => {
      if (!found.has(entity)) found.set(entity, { number: 0, name: "", mentions: [] });
      found.get(entity).mentions.push(this.mentions[i]);
    });
    const named = new Map(names);
    this.entities = [];
    for (const [id, entity] of found) {
      if (entity.mentions.length > 1) entity.number = this.entities.push(entity);
      entity.name = named.get(id) ?? this.textOf(entity.mentions[0]);
      for (const mention of entity.mentions) mention.entity = entity;
    }
    this.mentionOf = new Map();
    for (const mention of this.mentions)
      for (let token = mention.start; token < mention.end; token++)
        this.mentionOf.set(token, mention);
  }

  text(first, last) {
    return this.tokens.slice(first, last).join("");
  }

  textOf({ start, end }) {
    const text = this.text(start, end);
    return text.endsWith(" ") ? text.slice(0, -1) : text;
  }

  // Mentions that start in a stretch of tokens.
  mentionsIn(first, last) {
    const from = lowerBound(this.mentions, first, (mention) => mention.start);
    const to = lowerBound(this.mentions, last, (mention) => mention.start);
    return this.mentions.slice(from, to);
  }

  // What one cell did and holds when so many tokens are read.
  cell(position, cell) {
    const at = (position - 1) * this.nCells + cell;
    if (position < 1) return { update: 0, overwrite: 0, salience: 0, holds: -1 };
    return {
      update: this.update[at],
      overwrite: this.overwrite[at],
      salience: this.salience[at],
      holds: this.holds[at],
    };
  }
}

// The first index whose key is not below a value.
export function lowerBound(items, value, key) {
  let low = 0, high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(items[middle]) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// A text is sent whole; what the reader does comes back as server-sent events.
export async function* read(text, threshold, signal) {
  const query = threshold === null ? "" : `?threshold=${threshold}`;
  const answer = await post(`read${query}`, { body: text, signal });
  const parts = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await parts.read();
    if (done) return;
    const messages = (rest + value).split("\n\n");
    rest = messages.pop();
    for (const message of messages) {
      const [, event, data] = message.match(/^event: (.*)\ndata: (.*)$/);
      yield { event, data: JSON.parse(data) };
    }
  }
}

export async function regroup(name, threshold) {
  const query = new URLSearchParams({ name, threshold });
  return (await post(`regroup?${query}`, {})).json();
}

async function post(path, options) {
  const headers = { "Content-Type": "text/plain; charset=utf-8" };
  let answer;
  try {
    answer = await fetch(path, { method: "POST", headers, ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server can't be reached. Is `refreader serve` still running?");
  }
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => ({}));
  throw new Problem(said.problem ?? `The server said ${answer.status}.`, answer.status);
}

// Something to tell the visitor.
export class Problem extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

// No more figures than matter: 83 %, but 0.7 %.
export function percent(probability) {
  return `${(100 * probability).toFixed(probability >= 0.0995 ? 0 : 1)} %`;
}
