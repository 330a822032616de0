// Statements of auditors about a shuffle (8.1).
import { MAX_STATEMENT, readHash, readInteger, readNote } from "./checkpoint.ts";
import { Malformed, Unknown } from "./errors.ts";
import { ORIGIN } from "./reader.ts";
import { STATEMENT_VERSION, isOtherVersion } from "./receipt.ts";
import type { Bytes, Statement } from "./types.ts";

// SIGNER matches the name of an auditor's key (8.1).
export const SIGNER = /^[\x21-\x2a\x2c-\x7e]{1,128}$/;

export function readStatement(bytes: Bytes): Statement {
  if (bytes.length <= MAX_STATEMENT && isOtherVersion(bytes, ...STATEMENT_VERSION)) throw new Unknown("statement, of another version");
  const { lines, ...note } = readNote(bytes, 6, "statement", MAX_STATEMENT);
  const [first, origin, id, commit, tape, last] = lines as [string, string, string, string, string, string];
  if (first !== "shuffled/v1/statement" || last !== "order ok") throw new Malformed("statement: not of its form");
  const s = { origin, id: readInteger(id, "statement: id"), commit: readHash(commit, "statement: leaf hash"), tape: readHash(tape, "statement: leaf hash"), ...note };
  if (!ORIGIN.test(origin) || s.id === 0) throw new Malformed("statement: its origin or id is none");
  if (!s.signatures.every((line) => SIGNER.test(line.name))) throw new Malformed("statement: a name that no auditor's key may have");
  return s;
}
