// Rounds of drand's quicknet, the only beacon chain that is known (4.4).
import { hex, u64 } from "./bytes.ts";
import { BEACON, QUICKNET } from "./codes.ts";
import { sha256 } from "./sha256.ts";
import type { Bytes, Source } from "./types.ts";

// isQuicknet tells whether a source of a plan is a round of quicknet.
export const isQuicknet = (p: Source) => p.source === BEACON && hex(p.chain_hash!) === QUICKNET;

// roundTime gives the time at which a round comes out, in seconds since 1970. Rounds count from 1.
export const roundTime = (round: number) => 1692803367 + 3 * (round - 1);

// signedRound tells whether the bytes are quicknet's signature of the round.
export async function signedRound(round: number, signature: Bytes): Promise<boolean> {
  const { verify } = await import("./bls.ts");
  return verify(signature, sha256(u64(round)));
}
