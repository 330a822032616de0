// Signed notes and checkpoints (7.1).
import { MAX_INT, ascii, fromBase64, fromUTF8, hex, utf8 } from "./bytes.ts";
import { Malformed } from "./errors.ts";
import { ORIGIN } from "./reader.ts";
import type { Bytes, Checkpoint, Note, Signature } from "./types.ts";

const MAX_CHECKPOINT = 65535;
export const MAX_STATEMENT = 16384;
export const INTEGER = /^(?:0|[1-9][0-9]{0,15})$/;

// readInteger takes a text or its bytes.
export function readInteger(input: string | Uint8Array, what: string): number {
  const text = typeof input === "string" ? input : input.length > 16 ? "" : ascii(input);
  if (!INTEGER.test(text) || Number(text) > MAX_INT) throw new Malformed(`${what}: not an integer up to 2^53 − 1`);
  return Number(text);
}

// readHash takes a text or its bytes.
export function readHash(text: string | Uint8Array, what: string): Bytes {
  const bytes = text.length === 44 ? fromBase64(text) : null;
  if (bytes === null || bytes.length !== 32) throw new Malformed(`${what}: not 32 bytes in base64`);
  return bytes;
}

// readNote reads a signed note of at most most bytes, whose text has count lines.
export function readNote(bytes: Bytes, count: number, what: string, most: number): Note & { lines: string[] } {
  if (bytes.length > most) throw new Malformed(`${what}: above ${most.toLocaleString("en")} bytes`);
  const text = fromUTF8(bytes), lines = text.split("\n");
  if (lines.length > count + 1 + 64 + 1) throw new Malformed(`${what}: more than 64 signature lines`);
  if (lines.length < count + 3 || lines.pop() !== "" || lines[count] !== "" || /[\u0000-\u0009\u000b-\u001f]/.test(text))
    throw new Malformed(`${what}: not of its form`);
  const signatures = lines.slice(count + 1).map((line) => readSignature(line, what));
  const keys = new Set(signatures.map((s) => `${s.name} ${s.id}`));
  if (keys.size !== signatures.length) throw new Malformed(`${what}: a key signs twice`);
  return { lines: lines.slice(0, count), body: utf8.encode(lines.slice(0, count).join("\n") + "\n"), signatures };
}

// readCheckpoint reads a C2SP tlog-checkpoint without extension lines.
export function readCheckpoint(bytes: Bytes): Checkpoint {
  const { lines, ...note } = readNote(bytes, 3, "checkpoint", MAX_CHECKPOINT), [origin, size, root] = lines as [string, string, string];
  const c = { origin, size: readInteger(size, "checkpoint size"), root: readHash(root, "checkpoint root"), ...note };
  if (!ORIGIN.test(c.origin)) throw new Malformed("checkpoint: its origin is none");
  if (c.signatures[0]!.name !== c.origin) throw new Malformed("checkpoint: its first signature has another name");
  return c;
}

function readSignature(line: string, what: string): Signature {
  const parts = /^\u2014 ([^+\p{White_Space}]+) ([A-Za-z0-9+/=]+)$/u.exec(line);
  const bytes = parts && fromBase64(parts[2]!);
  if (!bytes || bytes.length < 5) throw new Malformed(`${what}: a signature line that is none`);
  return { name: parts[1]!, id: hex(bytes.subarray(0, 4)), bytes: bytes.subarray(4) };
}
