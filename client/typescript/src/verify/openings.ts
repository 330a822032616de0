// Commitment and openings (section 6).
import { blob16, equal, join, label, u16, u32 } from "./bytes.ts";
import { sha256 } from "./sha256.ts";
import { climb, leafOf, rootOf, type Made } from "./tree.ts";
import type { Bytes, Opening } from "./types.ts";

export const commitment = (context: Bytes, tape: Bytes) =>
  sha256(label("commitment"), blob16(context), u32(tape.length), tape);

export async function keystream(key: BufferSource, length: number): Promise<Bytes> {
  const aes = await crypto.subtle.importKey("raw", key, "AES-CTR", false, ["encrypt"]);
  const ctr = { name: "AES-CTR", counter: new Uint8Array(16), length: 128 };
  return new Uint8Array(await crypto.subtle.encrypt(ctr, aes, new Uint8Array(length)));
}

export async function salts(commitmentHash: Bytes, tape: Bytes, count: number): Promise<Bytes[]> {
  const ikm = await crypto.subtle.importKey("raw", tape, "HKDF", false, ["deriveBits"]);
  const hkdf = { name: "HKDF", hash: "SHA-256", salt: commitmentHash, info: label("salt") };
  const stream = await keystream(await crypto.subtle.deriveBits(hkdf, ikm, 256), 32 * count);
  return Array.from({ length: count }, (_, p) => stream.subarray(32 * p, 32 * p + 32));
}

// leafTag gives the tag that names a shuffle in its leaves (6.3).
export const leafTag = (commitmentHash: Bytes, context: Bytes) => sha256(label("pos"), commitmentHash, context).subarray(0, 16);
export const leafHash = (tag: Bytes, position: number, value: number, salt: Bytes) => leafOf(join(tag, u16(position), u32(value), salt));
export const deckRoot = (tag: Bytes, values: number[], saltOf: Bytes[]) => rootOf(values.map((v, p) => leafHash(tag, p, v, saltOf[p]!)));

export function opens(tag: Bytes, root: Bytes, m: number, card: Opening, above?: Made[]): boolean {
  const reached = climb(leafHash(tag, card.position, card.value, card.salt), card.position, m, card.proof, above);
  return reached !== null && equal(reached, root);
}
