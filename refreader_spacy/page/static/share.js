// A state in the address: after the #, which browsers keep to themselves.

import { Problem } from "./reading.js";

const LONGEST = 32000; // characters of an address that most programs still take

export async function fragmentOf({ text, threshold, position }) {
  const packed = await through(new CompressionStream("deflate-raw"), new Blob([text]));
  let bytes = "";
  for (const byte of packed) bytes += String.fromCharCode(byte);
  const encoded = btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  if (encoded.length > LONGEST)
    throw new Problem("This text is too long for a link. Copy it as JSON instead.");
  return `#text=${encoded}&threshold=${threshold}&at=${position}`;
}

// What an address holds, or null. It may come from anyone.
export async function stateOf(fragment, limit) {
  const fields = new URLSearchParams(fragment.slice(1));
  if (!fields.has("text")) return null;
  try {
    const encoded = fields.get("text").replaceAll("-", "+").replaceAll("_", "/");
    const packed = Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0));
    const unpacked = new DecompressionStream("deflate-raw");
    const bytes = await through(unpacked, new Blob([packed]), limit);
    const threshold = Number(fields.get("threshold") ?? NaN);
    const position = parseInt(fields.get("at"), 10);
    return {
      text: new TextDecoder("utf-8", { fatal: true }).decode(bytes),
      threshold: threshold > 0 && threshold <= 1 ? threshold : null,
      position: Number.isNaN(position) ? null : position,
    };
  } catch {
    throw new Problem("This link is damaged. Ask for it again, or paste the text itself.");
  }
}

async function through(transform, blob, limit = Infinity) {
  const parts = [];
  let size = 0;
  const reader = blob.stream().pipeThrough(transform).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
    if (size > limit) throw new RangeError("too long");
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

export async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Browsers give the clipboard only to pages that are local or encrypted
  const area = document.body.appendChild(document.createElement("textarea"));
  area.value = text;
  area.select();
  document.execCommand("copy");
  area.remove();
}
