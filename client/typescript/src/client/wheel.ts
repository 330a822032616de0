import type { Stop } from "./api.gen.ts";

// roulette gives the stops of a roulette wheel for `wheel` of draws, each as likely as the others: the zeros, such as
// "0" or "0" and "00", and "1" to "36". A spin shows one of these labels, where a draw from `ranges` of 37 is 1 to 37
// and never 0. As `labels` of terms they name the values of such a draw, which a mix moves.
export function roulette(...zeros: string[]): Stop[] {
  return [...zeros, ...Array.from({ length: 36 }, (_, i) => String(i + 1))].map((label) => ({ label, weight: 1 }));
}
