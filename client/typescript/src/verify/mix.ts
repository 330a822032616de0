// The mix (section 4).
import { label, str8 } from "./bytes.ts";
import { CO_DEALER, CUT } from "./codes.ts";
import { draw, shuffle, shuffleRanges, tapeLength } from "./draws.ts";
import { keystream } from "./openings.ts";
import { sha256 } from "./sha256.ts";
import { leafOf } from "./tree.ts";
import type { Bytes, Context, MixValue } from "./types.ts";

// mixed gives the sources of a plan that have a value: all except a co-dealer.
export const mixed = ({ plan }: Context) => plan.filter((p) => p.source !== CO_DEALER);

// mixValue finds the first value of a kind. Its place is not that in the plan, where a co-dealer may stand in front.
export const mixValue = (values: MixValue[], source: number) => values.find((v) => v.source === source);

export const slotHash = (origin: string, table: string, secret: Bytes) => sha256(label("slot"), str8(origin), str8(table), secret);

export const mixSeed = (commitEntry: Bytes, values: MixValue[]) =>
  sha256(label("mix"), leafOf(commitEntry), ...values.filter((v) => v.source !== CUT).map((v) => v.value!));

// The keystream of a mix does not run out (4.3): drawFromSeed takes more of it until it suffices.
async function drawFromSeed(seed: Bytes, ks: number[]): Promise<number[]> {
  for (let length = 2 * tapeLength(ks); ; length *= 2) {
    const draws = draw(await keystream(seed, length), ks);
    if (draws !== null) return draws;
  }
}

// mixedPlaces gives the position that each place shows (4.3).
export async function mixedPlaces(seed: Bytes, m: number, cut: number): Promise<number[]> {
  const p = shuffle(m, m, await drawFromSeed(seed, shuffleRanges(m, m)));
  return p.map((_, i) => p[(i + cut) % m]!);
}

// shifts gives u − 1 for each position of draws (4.3).
export const shifts = async (seed: Bytes, ks: number[]) => (await drawFromSeed(seed, ks)).map((u) => u - 1);
