// Verifier keys (C2SP signed-note), and what the reader gives the verifier (10).
import { fromBase64, hex, utf8 } from "./bytes.ts";
import { strongKey } from "./curves.ts";
import { namedDeck } from "./decks.ts";
import { Malformed, Unknown } from "./errors.ts";
import { MAX_LINES, readPolicy } from "./policy.ts";
import { sha256 } from "./sha256.ts";
import { SIGNER } from "./statement.ts";
import type { Bytes, NoteKey, ReadTrust, Trust } from "./types.ts";

// Types of keys (C2SP signed-note): Ed25519 for signatures, Ed25519 for cosignatures, ML-DSA-44 for both.
export const ED25519 = 0x01, COSIGNATURE = 0x04, ML_DSA = 0x06;
const ML_DSA_BYTES = 1312, KEY_NAME = 255;

// readVerifierKey reads a vkey, name+id+key (7.3), of one of the types. A witness's key of another
// type is unknown: it cosigns nothing, and its id cannot be checked.
export function readVerifierKey(text: string, ...types: number[]): NoteKey {
  const parts = /^([^+\p{White_Space}]+)\+([0-9a-f]{8})\+(.+)$/u.exec(text);
  const bytes = parts && fromBase64(parts[3]!);
  if (!bytes || bytes.length === 0) throw new Malformed("a verifier key that cannot be read");
  const key = noteKey(parts[1]!, bytes);
  if (utf8.encode(key.name).length > KEY_NAME) throw new Malformed("the name of a key is too long");
  if (!types.includes(key.type) && types.includes(COSIGNATURE) && bytes.length > 1) return { ...key, id: parts[2]!, unknown: true };
  if (key.id !== parts[2]) throw new Malformed("a verifier key whose id does not belong to it");
  if (!types.includes(key.type) || !(key.type === ML_DSA ? key.key.length === ML_DSA_BYTES : strongKey(key.key)))
    throw new Malformed("a verifier key of no type that fits here, or a weak one");
  return key;
}

// readLogKey reads a vkey of a ledger.
export function readLogKey(text: string): NoteKey {
  const key = readVerifierKey(text, ED25519, ML_DSA);
  if (utf8.encode(key.name).length > 128) throw new Malformed("the name of a log is too long");
  return key;
}

export function noteKey(name: string, typed: Bytes): NoteKey {
  const hash = sha256(utf8.encode(`${name}\n`), typed);
  return { name, id: hex(hash.subarray(0, 4)), key: typed.subarray(1), typed, type: typed[0]! };
}

// readHistory reads the text of a game's history (SPEC-BLIND 3).
function readHistory(text: string | Uint8Array): Bytes {
  const bytes = (typeof text === "string" ? new TextEncoder().encode(text) : text) as Bytes;
  let whole: string;
  try {
    whole = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Malformed("the history is not UTF-8");
  }
  const lines = whole.split("\n"), encoder = new TextEncoder();
  if (bytes.length > 65536 || lines.length > 1025) throw new Malformed("the history has more than 65,536 bytes or 1,024 lines");
  if (lines.pop() !== "") throw new Malformed("the history does not end in a newline");
  if (lines.some((l) => l === "" || encoder.encode(l).length > 1024 || /[\u0000-\u001f\u007f-\u009f]/.test(l))) throw new Malformed("a line of the history is empty, above 1,024 bytes, or has a control character");
  return bytes;
}

// readTrust reads what the reader gives the verifier. If a part cannot be read, it throws Unknown:
// that is no fault of the file (10).
export function readTrust({ vkey, policy, auditors = [], slots = [], coDealer, history, deck }: Trust): ReadTrust {
  if (vkey !== undefined && policy !== undefined) throw new TypeError("a key or a policy, not both");
  try {
    if (auditors.length > MAX_LINES) throw new Malformed("more than 64 keys of auditors");
    const logs = policy !== undefined ? readPolicy(policy) : { logs: vkey !== undefined ? [readLogKey(vkey)] : [], witnesses: [] };
    const own = { ...logs, slots: slots as Bytes[], auditors: auditors.map(readAuditor) };
    return { ...own, ...(coDealer !== undefined && { second: readPolicy(coDealer) }), ...(history !== undefined && { history: readHistory(history) }), ...(deck && { deck: readDeck(deck) }) };
  } catch (e) {
    if (e instanceof Malformed || e instanceof Unknown) throw new Unknown(`what is trusted: ${e.message}`);
    throw e;
  }
}

function readDeck(name: string) {
  const cards = namedDeck(name);
  if (!cards) throw new Malformed("no published deck has the name of deck");
  return { name, cards };
}

function readAuditor(text: string): NoteKey {
  const key = readVerifierKey(text, ED25519);
  if (!SIGNER.test(key.name)) throw new Malformed("a name that no auditor’s key may have");
  return key;
}

// readSlots reads values of slots, 32 bytes each in padded base64 or hexadecimal. They stand
// between white space, or in "value" lines as `shuffled slot new` prints them. It gives null if
// anything else stands there.
export function readSlots(text: string): Bytes[] | null {
  const lines = /^value[ \t]/m.test(text) ? [...text.matchAll(/^value[ \t]+(\S+)/gm)].map((m) => m[1]!) : text.split(/\s+/).filter((w) => w !== "");
  const values = lines.map((word) => /^[0-9a-fA-F]{64}$/.test(word) ? Uint8Array.from(word.match(/../g)!, (b) => parseInt(b, 16)) : fromBase64(word));
  return values.every((v): v is Bytes => v?.length === 32) ? values : null;
}
