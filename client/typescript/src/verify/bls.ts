// BLS on BLS12-381 with signatures in G1 (4.4). Few files need this module, and it is large, so
// beacon.ts imports it only when it checks a round.
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { hexToBytes } from "@noble/curves/utils.js";

// quicknet's public key, a point in G2.
const KEY =
  "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451" +
  "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a";
const TAG = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_";

// verify checks a signature by quicknet's key: 48 bytes that are a point in its one encoding, in
// the subgroup and not infinity. It gives false, and does not throw, for bytes that cannot be a
// signature.
export function verify(signature: Uint8Array, message: Uint8Array): boolean {
  const { hash, verify: holds } = bls12_381.shortSignatures;
  try {
    const point = bls12_381.shortSignatures.Signature.fromBytes(signature); // on the curve, and in the subgroup
    return !point.is0() && holds(point, hash(message, TAG), hexToBytes(KEY));
  } catch {
    return false;
  }
}
