// Rounds of the one beacon chain that is known, drand's quicknet, 4.4.
import { hex, u64 } from "./bytes.ts";
import { BEACON, QUICKNET } from "./codes.ts";
import { sha256 } from "./sha256.ts";
import type { Bytes, Source } from "./types.ts";

// isQuicknet: whether a source of a plan is a round of that chain.
export const isQuicknet = (p: Source) => p.source === BEACON && hex(p.chain_hash!) === QUICKNET;

// roundTime gives when a round, from 1, comes out, in seconds since 1970.
export const roundTime = (round: number) => 1692803367 + 3 * (round - 1);

// signedRound: whether the bytes are quicknet's signature of the round.
export async function signedRound(round: number, signature: Bytes): Promise<boolean> {
  const { verify } = await import("./bls.ts");
  return verify(signature, sha256(u64(round)));
}
