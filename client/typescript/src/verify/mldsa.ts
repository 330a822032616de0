// ML-DSA-44 (FIPS 204), and what it signs for a checkpoint (C2SP tlog-cosignature; 7.1).
import { ml_dsa44 } from "@noble/post-quantum/ml-dsa.js";
import { fromBase64, join, str8, u64, utf8 } from "./bytes.ts";
import type { Bytes, Note } from "./types.ts";

// A signature begins with eight bytes of time.
const TIME = 8;
export const MLDSA_SIGNATURE = TIME + 2420;

// mldsa checks a signature. A malformed key or signature gives false, and does not throw.
export function mldsa(key: Bytes, signature: Bytes, message: Bytes): boolean {
  try {
    return ml_dsa44.verify(signature.subarray(TIME), message, key);
  } catch {
    return false;
  }
}

// cosignedMessage gives the bytes that the signer with this name signs for a checkpoint. The time
// in them is the one at the beginning of the signature.
export function cosignedMessage({ body }: Note, name: string, signature: Bytes): Bytes {
  const [origin, size, root] = new TextDecoder().decode(body).split("\n");
  return join(utf8.encode("subtree/v1\n\0"), str8(name), signature.subarray(0, TIME), str8(origin!), u64(0), u64(Number(size)), fromBase64(root!)!);
}
