// SHA-256 (FIPS 180-4).
import { sha256 as hash } from "@noble/hashes/sha2.js";
import { equal } from "./bytes.ts";
import type { Bytes } from "./types.ts";

// Ed25519, HKDF and AES are WebCrypto's. Its digests are not used: each of them is a promise, a
// large file needs tens of thousands, and waiting for all of them took several times the time and
// memory of this code. Before the first verdict checkHashes compares this code with WebCrypto.

export function sha256(...parts: Uint8Array[]): Bytes {
  const h = hash.create();
  for (const part of parts) h.update(part);
  return h.digest() as Bytes;
}

// checkHashes compares messages of the lengths at which the padding changes.
export async function checkHashes(): Promise<void> {
  for (const n of [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000]) {
    const m = Uint8Array.from({ length: n }, (_, i) => 167 * i + 13 * n);
    if (!equal(sha256(m), new Uint8Array(await crypto.subtle.digest("SHA-256", m)))) throw new Error("SHA-256 differs from WebCrypto's here");
  }
}
