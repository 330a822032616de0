// Signatures of Ed25519 (7.1), and the forms of keys of Ed25519, P-256 and ML-KEM-768 (9, key).
import { fromBase64 } from "./bytes.ts";
import type { Bytes } from "./types.ts";

// Points are recognized by their encodings (RFC 8032, 5.1.3). The eight points of small order have
// y = 0, y = ±1 or d·y⁴ + 2y² = 1. If a key is one of them, anybody can sign with it.
const P = 2n ** 255n - 19n;
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
const mod = (x: bigint) => ((x % P) + P) % P;
export const bigEndian = (bytes: Uint8Array) => bytes.reduce((n, b) => n << 8n | BigInt(b), 0n);
const littleEndian = (bytes: Uint8Array) => bigEndian(bytes.slice().reverse());

function power(base: bigint, exponent: bigint): bigint {
  let out = 1n;
  for (let b = mod(base), e = exponent; e > 0n; e >>= 1n, b = b * b % P) if (e & 1n) out = out * b % P;
  return out;
}

// largeY gives the y that 32 bytes encode. It gives null if the encoding is not canonical, or if a
// point with this y has small order. It does not check that there is a point with this y.
function largeY(bytes: Uint8Array): bigint | null {
  if (bytes.length !== 32) return null;
  const y = littleEndian(bytes) & 2n ** 255n - 1n, y2 = y * y;
  return y >= P || mod(y * (y2 - 1n) * (D * y2 * y2 + 2n * y2 - 1n)) === 0n ? null : y;
}

export function strongKey(bytes: Uint8Array): boolean {
  const y = largeY(bytes);
  if (y === null) return false;
  const x2 = (y * y - 1n) * power(D * y * y + 1n, P - 2n);
  return power(x2, (P - 1n) / 2n) === 1n;
}

// canSeal tells whether something can be sealed to a key, given with its type byte. The key ends in
// a point of P-256 (SP 800-186). A hybrid key has a key of ML-KEM-768 before the point, in its
// canonical encoding: 768 numbers of 12 bits, each below 3329 (FIPS 203, 7.2), and 32 bytes.
export function canSeal(key: Uint8Array): boolean {
  for (let i = 1; i < key.length - 65 - 32; i += 3)
    if ((key[i]! | (key[i + 1]! & 15) << 8) >= 3329 || (key[i + 1]! >> 4 | key[i + 2]! << 4) >= 3329) return false;
  return onP256(key.subarray(-65));
}

// onP256 tells whether x and y are a point. It skips the byte before them, which sealingKey checks.
function onP256(point: Uint8Array): boolean {
  const p = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
  const b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;
  const x = bigEndian(point.subarray(1, 33)), y = bigEndian(point.subarray(33));
  return x < p && y < p && (y * y - x * x * x + 3n * x - b) % p === 0n;
}

// ed25519 checks a signature as 7.1 says. WebCrypto checks the equation without the cofactor. It
// may accept encodings that 7.1 refuses, so they are refused first. A malformed key or signature
// gives false, and does not throw.
export async function ed25519(key: Bytes, signature: Bytes, message: Bytes): Promise<boolean> {
  if (signature.length !== 64 || largeY(signature.subarray(0, 32)) === null || littleEndian(signature.subarray(32)) >= L) return false;
  try {
    const k = await crypto.subtle.importKey("raw", key, { name: "Ed25519" }, false, ["verify"]);
    return await crypto.subtle.verify({ name: "Ed25519" }, k, signature, message);
  } catch {
    return false;
  }
}

let ed25519Here: Promise<boolean> | undefined;

// canEd25519 tells whether WebCrypto has Ed25519, which older browsers lack. It tries the second signature of RFC 8032,
// section 7.1.
export function canEd25519(): Promise<boolean> {
  const key = fromBase64("PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=")!;
  const good = fromBase64("kqAJqfDUyrhyDoILX2QlQKKye1QWUD+Ps3YiI+vbadoIWsHkPhWZbkWPNhPQ8R2MOHsurrQwKu6wDSkWErsMAA==")!;
  ed25519Here ??= ed25519(key, good, Uint8Array.of(0x72));
  return ed25519Here;
}
