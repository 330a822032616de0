// Receipts (7.2), and how a file of another version begins (1.4).
import { ascii, fromBase64, fromUTF8, join, starts } from "./bytes.ts";
import { readHash, readInteger } from "./checkpoint.ts";
import { MAX_ENTRY } from "./codes.ts";
import { Malformed, Unknown } from "./errors.ts";
import type { Bytes, Receipt } from "./types.ts";

export const NEWLINE = 0x0a, QUOTE = 0x22, BACKSLASH = 0x5c, BRACE = 0x7b;

// What stands before and after the version at the beginning of a file. The version is a decimal of
// at most ten digits. If it is not 1, the file is of another version, whatever follows (1.4).
export const TRANSCRIPT_VERSION: [string, string] = ['{"format":"shuffled/v', '/transcript"'], RECEIPT_VERSION: [string, string] = ["c2sp.org/tlog-proof@v", "\n"];
export const STATEMENT_VERSION: [string, string] = ["shuffled/v", "/statement\n"];

export function isOtherVersion(bytes: Uint8Array, before: string, behind: string): boolean {
  if (!starts(bytes, before)) return false;
  const digits = /^[1-9][0-9]{0,9}/.exec(ascii(bytes.subarray(before.length, before.length + 11)))?.[0];
  return digits !== undefined && digits !== "1" && starts(bytes, behind, before.length + digits.length);
}

// readReceipt reads a receipt, except its checkpoint, whose bytes it gives as signed.
export function readReceipt(bytes: Bytes): Omit<Receipt, "checkpoint" | "entry"> & { signed: Bytes } {
  if (bytes.length > MAX_RECEIPT) throw new Malformed("receipt: above 132,626 bytes");
  let at = 0;
  const line = () => {
    const from = at, end = bytes.indexOf(NEWLINE, at);
    if (end < 0) throw new Malformed("receipt: it ends too early");
    at = end + 1;
    return bytes.subarray(from, end);
  };
  const after = (word: string) => {
    const l = line();
    if (!starts(l, word)) throw new Malformed(`receipt: no ${word.trim()} line`);
    return l.subarray(word.length);
  };
  if (isOtherVersion(bytes, ...RECEIPT_VERSION)) throw new Unknown("receipt format, of another version");
  if (fromUTF8(line()) !== "c2sp.org/tlog-proof@v1") throw new Malformed("receipt: its first line is not c2sp.org/tlog-proof@v1");
  const extra = after("extra ");
  if (extra.length > MAX_ENTRY / 3 * 4) throw new Malformed("receipt: an entry above 48,000 bytes");
  const entry = fromBase64(extra);
  if (entry === null || entry.length === 0) throw new Malformed("receipt: the entry is not in base64");
  const index = readInteger(after("index "), "receipt: index");
  const proof: Bytes[] = [];
  for (let l = line(); l.length > 0; l = line()) {
    if (proof.push(readHash(l, "receipt: a hash of the proof")) > 63) throw new Malformed("receipt: more than 63 hashes");
  }
  return { bytes: entry, index, proof: join(...proof), signed: bytes.subarray(at) };
}

export const MAX_FILE = 32 * 2 ** 20, MAX_RECEIPT = 132626;
