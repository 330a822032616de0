// What a blind shuffle was asked for, and when.
import { el } from "./dom.ts";
import { when } from "./words.ts";
import type { Verdict } from "../src/verify/types.ts";

// blindSection says of a blind shuffle what it shows, and what it does not.
export function blindSection({ blind: b }: Verdict): HTMLElement | null {
  if (!b) return null;
  const asked = b.requests.map((r) => el("li", {}, `${r.places === 1 ? `Place ${r.place}` : `Places ${r.place} to ${r.place + r.places - 1}`}: asked for ${r.time === undefined ? "" : `at ${when(r.time)} by its clock, `}`
    + `in one request${r.runs > 1 ? ` of ${r.runs} parts` : ""}${r.state ? ", which is bound to the history of the game." : ". The file does not show that this was not early."}`));
  return el("section", {}, el("h3", {}, "Dealt blind"),
    el("p", {}, `Another organisation, ${b.co_dealer}, gave the order of the places. Before it entered a request in its own ledger, nobody with only the house’s machines, keys and staff could know more of what its places show than which cards were left. From then on the house could not change which of them go to which name.`),
    el("ol", {}, ...asked),
    el("p", { class: "help" }, "The house sees cards once they are dealt. That the two are different parties, no file shows."));
}
