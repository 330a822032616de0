// Draws and shuffles (section 2).
import { CARDS, DRAWS, NUMBERS } from "./codes.ts";
import type { Context } from "./types.ts";

const lane = (k: number) => k === 1 ? 0 : k <= 2 ** 6 ? 1 : k <= 2 ** 14 ? 2 : 4;

// ranges gives the k of every draw of a context, in order (2.2, 2.5).
export function ranges(c: Context): number[] {
  if (c.kind === DRAWS) return c.ranges;
  if (c.kind === NUMBERS) return shuffleRanges(c.of!, c.m);
  const ks = shuffleRanges(c.n, c.m);
  if (c.end_at.form === 2) ks.push(c.end_at.hi! - c.end_at.lo! + 1);
  return ks;
}

export const shuffleRanges = (n: number, m: number) => Array.from({ length: m }, (_, i) => n - i);

export function tapeLength(ks: number[]): number {
  let sum = 0, widest = 0;
  for (const k of ks) { sum += lane(k); widest = Math.max(widest, lane(k)); }
  return sum + Math.ceil(sum / 2) + 52 * Math.max(1, widest);
}

// draw draws a value for each range from the bytes (2.1). It gives null if the bytes run out.
export function draw(bytes: Uint8Array, ks: number[]): number[] | null {
  let at = 0;
  const out: number[] = [];
  for (const k of ks) {
    const w = lane(k);
    if (w === 0) { out.push(1); continue; }
    const limit = Math.floor(256 ** w / k) * k;
    let x;
    do {
      if (bytes.length - at < w) return null;
      x = 0;
      for (let i = 0; i < w; i++) x = x * 256 + bytes[at++]!;
    } while (x >= limit);
    out.push(1 + x % k);
  }
  return out;
}

// shuffle takes m of n cards by the first m draws (2.2). A drawn end_at may follow them.
export function shuffle(n: number, m: number, draws: number[]): number[] {
  const a = Array.from({ length: n }, (_, i) => i);
  for (let i = 0; i < m; i++) {
    const j = i + draws[i]! - 1;
    [a[i], a[j]] = [a[j]!, a[i]!];
  }
  return a.slice(0, m);
}

// numbers gives the numbers that draws take (2.5). It does what shuffle does, but keeps only the
// entries that were swapped, because n can be 2^30.
export function numbers(draws: number[]): number[] {
  const moved = new Map<number, number>(), at = (place: number) => moved.get(place) ?? place;
  return draws.map((v, i) => {
    const j = i + v - 1, card = at(j);
    moved.set(j, at(i));
    return card + 1;
  });
}

// recompute gives the value of each position and a drawn end_at from a tape (2.2), null if the tape runs out.
export function recompute(c: Context, tape: Uint8Array): { values: number[]; endAt?: number } | null {
  const draws = draw(tape, ranges(c));
  if (draws === null) return null;
  if (c.kind !== CARDS) return { values: draws };
  const values = shuffle(c.n, c.m, draws);
  return c.end_at.form === 2 ? { values, endAt: c.end_at.lo! + draws[c.m]! - 1 } : { values };
}

export const positions = (c: Context) => c.kind === DRAWS ? c.ranges.length : c.m;
