// The page: what the visitor does, and what is shown.

import { MemoryView } from "./memory.js";
import { Player } from "./player.js";
import { percent, Problem, read, Reading, regroup } from "./reading.js";
import { copy, fragmentOf, stateOf } from "./share.js";
import { entityLook, TextView } from "./text.js";

const LIMIT = 1_000_000; // bytes, as the server's
const LISTED = 40; // entities
const RESOLVED = 20_000; // characters that are shown
const at = (id) => document.getElementById(id);

const view = new TextView(at("reading"));
const memory = new MemoryView(at("cells"), at("chart"));
const player = new Player(show);
let reading = null;
let found = null; // who is who in the whole text, and its record
let threshold = null; // null is the pipeline's own
let visit = null; // an AbortController while a text is read
let pressed = null; // the entity that was chosen in the list

function show(position, glide) {
  const isNew = position !== view.position;
  if (isNew) view.follow(position); // first what measures, then what changes
  memory.chart(position, glide);
  if (!isNew) return;
  stand(position);
  showProgress();
  if (!player.isPlaying || player.speed < 5) tell(position);
  document.dispatchEvent(new CustomEvent("token", { detail: position }));
}

function showProgress() {
  const { position, length } = player;
  const more = player.isComplete ? "" : "…";
  at("progress").textContent = length ? `${position.toLocaleString("en")} of ${length.toLocaleString("en")}${more} tokens` : "";
  const word = reading?.tokens[position - 1]?.trim() ?? "nothing";
  at("position").setAttribute("aria-valuetext", `${position} of ${length}: ${word}`);
}

// For those who hear the page: what the last token did.
function tell(position) {
  if (!position || position >= reading.length) return;
  const said = [];
  const mention = reading.mentionOf.get(position - 1);
  if (mention?.to && mention.end === position)
    said.push(`${reading.textOf(mention)} means ${reading.textOf(mention.to)}, ${percent(mention.probability)}`);
  for (const cell of memory.cells) if (cell.did.textContent) said.push(`cell ${cell.number} ${cell.did.textContent}`);
  if (said.length) at("said").textContent = `${reading.tokens[position - 1].trim()}: ${said.join("; ")}`;
}

// Say something that is seen too.
let hiding = 0;
function say(text) {
  at("said").textContent = text;
  at("said").classList.add("shown");
  clearTimeout(hiding);
  hiding = setTimeout(() => at("said").classList.remove("shown"), 2200);
}

function showProblem(error) {
  at("problem").hidden = !error;
  at("problem").textContent = error ? error.message : "";
  document.body.dataset.state = error ? "problem" : document.body.dataset.state;
  if (error && !(error instanceof Problem)) console.error(error);
}

// Read a text, and show it as it comes. position: where to stand; by default, the end.
async function open(text, position = Infinity) {
  visit?.abort();
  visit = new AbortController();
  const { signal } = visit;
  showProblem(null);
  document.body.dataset.state = "reading";
  if (new Blob([text]).size > LIMIT) {
    const size = new Blob([text]).size.toLocaleString("en");
    return showProblem(new Problem(`This page reads texts of up to 1,000,000 bytes, but this one has ${size}. Give it a part, or read the whole with \`refreader annotate\`, which has no limit.`));
  }
  try {
    for await (const { event, data } of read(text, threshold, signal)) {
      if (signal.aborted) return;
      if (event === "start") begin(data);
      else if (event === "read") extend(data, position);
      else if (event === "found") finish(data, position);
      else throw new Problem(data.problem);
    }
  } catch (error) {
    if (error.name !== "AbortError") showProblem(error);
  }
}

function begin({ cells, threshold: used }) {
  player.pause();
  reading = new Reading(cells);
  found = null;
  pressed = null;
  at("n-cells").textContent = NUMBERS[cells] ?? cells;
  if (threshold === null) showThreshold(used);
  view.start(reading);
  memory.start(reading);
  Object.assign(player, { length: 0, position: 0, isComplete: false });
}

const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];

function extend(piece, position) {
  reading.add(piece);
  reading.group(reading.rawMentions, reading.rawLinks);
  view.extend();
  player.length = reading.length;
  at("position").max = reading.length;
  if (!player.isPlaying) standAt(position);
  showProgress();
}

// Be at a position without scrolling there.
function standAt(position) {
  stand(Math.min(position, reading.length));
  memory.chart(player.position, 0);
}

function stand(position) {
  player.position = position;
  view.moveTo(position);
  memory.moveTo(position);
  at("position").value = position;
}

function finish(data, position) {
  reading.isComplete = player.isComplete = true;
  showFound(data);
  if (!player.isPlaying) standAt(position);
  showProgress();
  document.body.dataset.state = "read";
  wanted();
}

function showFound(data) {
  found = data;
  reading.group(data.mentions, data.links, data.names);
  view.regroup();
  memory.moveTo(player.position);
  memory.chart(player.position, 0);
  showEntities();
  const resolved = data.record.resolved_text;
  const more = resolved.length > RESOLVED ? " … (Copy takes the whole text.)" : "";
  at("resolved").textContent = resolved.slice(0, RESOLVED) + more;
  document.body.dataset.threshold = data.threshold;
}

function showEntities() {
  const largest = [...reading.entities].sort((a, b) => b.mentions.length - a.mentions.length).slice(0, LISTED);
  const items = largest.sort((a, b) => a.number - b.number).map((entity) => {
    const item = document.createElement("li");
    const button = item.appendChild(document.createElement("button"));
    button.type = "button";
    button.className = entityLook(entity);
    button.setAttribute("aria-pressed", "false");
    const number = document.createElement("b"), name = document.createElement("span"), size = document.createElement("small");
    number.textContent = entity.number;
    name.textContent = entity.name;
    name.dir = "auto";
    size.textContent = `${entity.mentions.length} mentions`;
    button.append(number, name, size);
    button.addEventListener("click", () => choose(entity, button));
    return item;
  });
  const rest = reading.entities.length - items.length;
  if (rest) {
    const item = document.createElement("li");
    item.className = "more";
    item.textContent = `and ${rest.toLocaleString("en")} more`;
    items.push(item);
  }
  pressed = null;
  at("entities").replaceChildren(...items);
  at("nobody").hidden = Boolean(reading.entities.length) || !reading.length;
}

function choose(entity, button) {
  const isOn = pressed !== entity;
  pressed = isOn ? entity : null;
  for (const other of at("entities").querySelectorAll("button"))
    other.setAttribute("aria-pressed", String(isOn && other === button));
  if (isOn) view.scrollTo(entity.mentions[0]);
  view.light(pressed);
}

// The slider is logarithmic: small probabilities matter.
const toSlider = (probability) => Math.round(1000 + (1000 / 3) * Math.log10(Math.max(probability, 0.001)));
const fromSlider = (value) => Number((10 ** ((3 * (value - 1000)) / 1000)).toPrecision(3));

function showThreshold(probability) {
  at("threshold").value = toSlider(probability);
  at("threshold-shown").textContent = percent(probability);
  at("threshold").setAttribute("aria-valuetext", percent(probability));
}

// Group again as the visitor wants; one question at a time, the latest wins.
let isAsking = false;
async function wanted() {
  if (isAsking || !found || threshold === null || threshold === found.threshold) return;
  isAsking = true;
  const { name } = found;
  try {
    const data = await regroup(name, threshold);
    if (found?.name === name) showFound(data);
  } catch (error) {
    if (error.status === 410) open(at("text").value, player.position);
    else showProblem(error);
  }
  isAsking = false;
  wanted();
}

at("threshold").addEventListener("input", (event) => {
  threshold = fromSlider(Number(event.target.value));
  at("threshold-shown").textContent = percent(threshold);
  event.target.setAttribute("aria-valuetext", percent(threshold));
  wanted();
});

// What is typed is read when the fingers rest.
let resting = 0;
at("text").addEventListener("input", () => {
  clearTimeout(resting);
  const text = at("text").value;
  at("example").value = "";
  document.body.dataset.state = "waiting";
  resting = setTimeout(() => open(text), text.length > 20_000 ? 600 : 180);
});

function take(text, position) {
  clearTimeout(resting);
  at("text").value = text;
  return open(at("text").value, position);
}

at("example").addEventListener("change", (event) => take(event.target.value));

async function takeFile(file) {
  if (!file) return;
  try {
    if (file.size > LIMIT)
      throw new Problem(`${file.name} has ${file.size.toLocaleString("en")} bytes, but this page reads up to 1,000,000. Give it a part, or use \`refreader annotate\`, which has no limit.`);
    const bytes = await file.arrayBuffer();
    let text;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
      throw new Problem(`${file.name} is no text in UTF-8. Save it again as UTF-8, or choose another file.`);
    }
    at("example").value = "";
    await take(text);
  } catch (error) {
    showProblem(error);
  }
}

at("file").addEventListener("change", (event) => {
  takeFile(event.target.files[0]);
  event.target.value = "";
});
const compose = document.querySelector(".compose");
compose.addEventListener("dragover", (event) => {
  event.preventDefault();
  compose.classList.add("dropping");
});
compose.addEventListener("dragleave", () => compose.classList.remove("dropping"));
compose.addEventListener("drop", (event) => {
  event.preventDefault();
  compose.classList.remove("dropping");
  takeFile(event.dataTransfer.files[0]);
});

player.onChange = () => {
  document.body.classList.toggle("playing", player.isPlaying);
  at("play").setAttribute("aria-label", player.isPlaying ? "Pause" : "Play");
};
function go(position) {
  player.pause();
  player.seek(position);
}
at("play").addEventListener("click", () => (player.isPlaying ? player.pause() : player.play()));
at("first").addEventListener("click", () => go(0));
at("back").addEventListener("click", () => go(player.position - 1));
at("forward").addEventListener("click", () => go(player.position + 1));
at("last").addEventListener("click", () => go(player.length));
at("speed").addEventListener("change", (event) => (player.speed = Number(event.target.value)));

// Dragging draws once a frame, however often it is told.
let isDragged = false;
at("position").addEventListener("input", () => {
  if (isDragged) return;
  isDragged = true;
  requestAnimationFrame(() => {
    isDragged = false;
    go(Number(at("position").value));
  });
});
at("reading").addEventListener("click", (event) => {
  const mention = event.target.closest("mark")?.mention;
  if (mention) go(mention.end);
});
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.target.closest("textarea, input, select, button, a")) return;
  const steps = { " ": () => at("play").click(), ArrowLeft: () => at("back").click(), ArrowRight: () => at("forward").click(), Home: () => go(0), End: () => go(player.length) };
  if (!steps[event.key]) return;
  event.preventDefault();
  steps[event.key]();
});

async function taken(make, what) {
  try {
    await copy(await make());
    say(`${what} copied`);
  } catch (error) {
    showProblem(error instanceof Problem ? error : new Problem(`It can't be copied: ${error.message}`));
  }
}

function asJson() {
  const { record, threshold: used } = found;
  const { text, clusters, links, resolved_text } = record;
  return JSON.stringify({ text, threshold: used, clusters, links, resolved_text }, null, 1);
}

async function asLink() {
  const state = { text: at("text").value, threshold: found.threshold, position: player.position };
  history.replaceState(null, "", await fragmentOf(state));
  return location.href;
}

const isRead = () => {
  if (!found) throw new Problem("There is nothing to copy yet: the text is still being read.");
};
at("copy-json").addEventListener("click", () => taken(async () => (isRead(), asJson()), "JSON"));
at("copy-link").addEventListener("click", () => taken(async () => (isRead(), asLink()), "Link"));
at("copy-resolved").addEventListener("click", () => taken(async () => (isRead(), found.record.resolved_text), "Resolved text"));

// What the address holds; or else an example.
async function arrive() {
  try {
    const state = await stateOf(location.hash, LIMIT);
    if (state) {
      threshold = state.threshold;
      if (threshold !== null) showThreshold(threshold);
      return await take(state.text, state.position ?? Infinity);
    }
  } catch (error) {
    return showProblem(error);
  }
  const [, example] = at("example").options;
  at("example").value = example.value;
  return take(example.value);
}
window.addEventListener("hashchange", arrive);
arrive();
