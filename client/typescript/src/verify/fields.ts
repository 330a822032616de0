// Fields that several entries have (section 5).
import { ascii } from "./bytes.ts";
import { Malformed, Unknown } from "./errors.ts";
import { ML_DSA } from "./keys.ts";
import { NAME, REASON, type Reader } from "./reader.ts";
import type { ListName } from "./codes.ts";
import type { Bytes } from "./types.ts";

// publicKey reads a type byte and a key (5.7). The rule key checks whether the key is a point (9).
function publicKey(r: Reader, field: string, lengths: Record<number, number>): Bytes {
  const key = r.blob(field, 2, 2048), length = lengths[key[0]!];
  if (length === undefined) throw new Unknown(`${field}, type ${key[0]}`);
  if (key.length !== length) throw new Malformed(`${field}: ${key.length} bytes, not ${length}`);
  return key;
}

export const signingKey = (r: Reader, field: string) => publicKey(r, field, { 1: 33 });

// ledgerKey reads a signing key of a key entry, which is of Ed25519 or ML-DSA-44 (5.7).
export const ledgerKey = (r: Reader, field: string) => publicKey(r, field, { 1: 33, [ML_DSA]: 1313 });

// ADDED has the number of bytes that sealing adds, by the type of the key: 1 P-256, 2 ML-KEM-768 with P-256 (12.1).
export const ADDED: Record<number, number> = { 1: 81, 2: 1169 };
export const HYBRID = 2;

export function sealingKey(r: Reader, field: string): Bytes {
  const key = publicKey(r, field, { 1: 66, 2: 1250 });
  if (key.at(-65) !== 0x04) throw new Malformed(`${field}: no point, uncompressed`);
  return key;
}

export function policyText(r: Reader): string {
  const text = ascii(r.blob("witness policy", 0, 32768));
  if (!/^[\x20-\x7e\n]*$/.test(text)) throw new Malformed("witness policy: not printable ASCII");
  return text;
}

// ascending reads codes of a list. They ascend, so none stands twice.
export function ascending(r: Reader, list: ListName, field: string): number[] {
  const out: number[] = [], count = r.u8(field);
  for (let i = 0; i < count; i++) {
    const code = r.code(list, field);
    if (i > 0 && out[i - 1]! >= code) throw new Malformed(`${field}: the codes do not ascend`);
    out.push(code);
  }
  return out;
}

// nextName reads a name that comes after last. Names are ASCII, so strings have the order of their bytes.
export function nextName(r: Reader, field: string, last: string | undefined): string {
  const name = r.text(field, NAME);
  if (last !== undefined && last >= name) throw new Malformed(`${field}: the names do not ascend`);
  return name;
}

export const table = (r: Reader) => ({ table: r.text("table", NAME) });
export const reason = (r: Reader) => ({ reason: r.text("reason", REASON) });
