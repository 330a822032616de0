import type { Stop } from "./api.gen.ts";

// roulette gives the stops of a roulette wheel, all equally likely: the zeros, such as "0" or "0" and "00", and "1"
// to "36". As `wheel` of a request for draws, a spin shows one of these labels. A draw from `ranges` of 37 shows 1
// to 37 and never 0. As `labels` of terms, the stops name the values of such a draw, which a mix can move.
export function roulette(...zeros: string[]): Stop[] {
  return [...zeros, ...Array.from({ length: 36 }, (_, i) => String(i + 1))].map((label) => ({ label, weight: 1 }));
}
