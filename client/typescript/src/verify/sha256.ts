// SHA-256, FIPS 180-4.
import { equal, join, u32 } from "./bytes.ts";
import type { Bytes } from "./types.ts";


// Signatures, HKDF and AES are WebCrypto's. Its digests are not used: each is
// promised for later, the largest file needs 40,000 of them, and waiting for
// all took several times the time and memory of working them out here. Before
// the first verdict checkHashes holds this code against WebCrypto.

const K = Uint32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2);

const INITIAL = Int32Array.of(0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19);
const W = new Int32Array(64);

// compress takes the 64 bytes at an offset into the state H.
function compress(H: Int32Array, b: Uint8Array, at: number): void {
  for (let t = 0; t < 16; t++, at += 4) W[t] = b[at] << 24 | b[at + 1] << 16 | b[at + 2] << 8 | b[at + 3];
  for (let t = 16; t < 64; t++) {
    const x = W[t - 15], y = W[t - 2];
    W[t] = W[t - 16] + W[t - 7] + ((x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3) +
      ((y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10) | 0;
  }
  let a = H[0], b1 = H[1], c = H[2], d = H[3], e = H[4], f = H[5], g = H[6], h = H[7];
  for (let t = 0; t < 64; t++) {
    const t1 = h + ((e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7)) + (e & f ^ ~e & g) + K[t] + W[t] | 0;
    const t2 = ((a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10)) + (a & b1 ^ a & c ^ b1 & c) | 0;
    h = g; g = f; f = e; e = d + t1 | 0;
    d = c; c = b1; b1 = a; a = t1 + t2 | 0;
  }
  H[0] += a; H[1] += b1; H[2] += c; H[3] += d; H[4] += e; H[5] += f; H[6] += g; H[7] += h;
}

export function sha256(...parts: Uint8Array[]): Bytes {
  const m = parts.length === 1 ? parts[0] : join(...parts), whole = m.length - m.length % 64;
  const H = INITIAL.slice(), end = new Uint8Array(m.length - whole < 56 ? 64 : 128);
  for (let at = 0; at < whole; at += 64) compress(H, m, at);
  end.set(m.subarray(whole));
  end[m.length - whole] = 0x80;
  end.set(u32(m.length * 8 / 2 ** 32), end.length - 8);
  end.set(u32(m.length << 3), end.length - 4);
  for (let at = 0; at < end.length; at += 64) compress(H, end, at);
  const out = new Uint8Array(32);
  for (let i = 0; i < 32; i++) out[i] = H[i >> 2] >>> 24 - (i & 3) * 8;
  return out;
}

// checkHashes compares messages of the lengths at which the padding changes.
export async function checkHashes(): Promise<void> {
  for (const n of [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000]) {
    const m = Uint8Array.from({ length: n }, (_, i) => 167 * i + 13 * n);
    if (!equal(sha256(m), new Uint8Array(await crypto.subtle.digest("SHA-256", m)))) throw new Error("SHA-256 differs from WebCrypto's here");
  }
}
