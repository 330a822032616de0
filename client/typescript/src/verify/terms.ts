// Decks (3.1) and terms (section 16).
import { equal, fromUTF8, label, str8, u16, utf8 } from "./bytes.ts";
import { WHEEL } from "./codes.ts";
import { Malformed } from "./errors.ts";
import { Reader } from "./reader.ts";
import { sha256 } from "./sha256.ts";
import type { Bytes, Label } from "./types.ts";

const LOOKS_ALIKE = // 3.1
  /[\u0000-\u001f\u007f-\u00a0\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u115f-\u1160\u1680\u17b4-\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{16fe4}\u{1bca0}-\u{1bca3}\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u;

export function badCardName(name: string): boolean {
  const n = utf8.encode(name).length;
  return n < 1 || n > 64 || name.startsWith(" ") || name.endsWith(" ") || LOOKS_ALIKE.test(name);
}

export const deckHash = (deck: string[]) => sha256(label("deck"), u16(deck.length), ...deck.map(str8));
export const MAX_DOCUMENT = 65536, MAX_RANGE = 2 ** 30, MAX_TICKET = 2048;
export const termsHash = (kind: number, written: Bytes) => sha256(label("terms"), Uint8Array.of(kind), written);

interface ReadTerms { labels?: Label[]; total?: number; text?: string }

// readTerms gives labels and total of a wheel, or the text of a pay table.
export function readTerms(kind: number, written: Bytes): ReadTerms {
  if (written.length < 1 || written.length > MAX_DOCUMENT) throw new Malformed("terms: not 1 to 65,536 bytes");
  return kind === WHEEL ? readWheel(written) : { text: readPayTable(written) };
}

function readWheel(written: Bytes): ReadTerms {
  const r = new Reader(written), labels: Label[] = [], names = new Set<string>(), count = r.u16("labels");
  if (count === 0) throw new Malformed("wheel: no label");
  let total = 0;
  for (let i = 0; i < count; i++) {
    const name = properText(r.take(r.u8("label"), "label"), "wheel"), weight = r.u32("weight");
    if (badCardName(name)) throw new Malformed(`wheel: label ${i} is no name`);
    if (names.has(name)) throw new Malformed(`wheel: label ${i} stands twice`);
    if (weight === 0) throw new Malformed(`wheel: label ${i} has no weight`);
    names.add(name);
    labels.push({ label: name, weight });
    total += weight;
  }
  r.end("wheel");
  if (total > MAX_RANGE) throw new Malformed("wheel: the weights add up to more than 2^30");
  return { labels, total };
}

function readPayTable(written: Bytes): string {
  const text = properText(written, "pay table");
  if (LOOKS_ALIKE.test(text.replaceAll("\n", ""))) throw new Malformed("pay table: characters that do not show");
  return text;
}

function properText(bytes: Bytes, what: string): string {
  const text = fromUTF8(bytes);
  if (!equal(utf8.encode(text), bytes)) throw new Malformed(`${what}: not UTF-8`);
  return text;
}

// labelOf gives the label that a drawn value shows.
export function labelOf(labels: Label[], value: number): string | undefined {
  let up = 0;
  return labels.find(({ weight }) => value <= (up += weight))?.label;
}
