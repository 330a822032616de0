// What a blind shuffle was asked for, and when.
import { el } from "./dom.ts";
import { when } from "./words.ts";
import type { AskedRun, ShownCard, Verdict } from "../src/verify/types.ts";

const NOT_BLIND: Record<string, string> = {
  no_co_dealer: "This shuffle names no co-dealer. The policy for the co-dealer was not used.",
  key_not_pinned: "No key and no policy of the house is trusted, so nothing shows that it was dealt blind.",
  no_common_witness: "Two quorums of the policy for the co-dealer need share no witness, so nothing shows that it was dealt blind.",
  not_dealt: "This shuffle names an order of a co-dealer. Nothing was dealt from it, as far as the file shows.",
};

// runOf says for whom a part of a request is.
const runOf = (run: AskedRun): string => `${run.places} ${run.purpose}${run.recipient ? ` for ${run.recipient}` : ""}${run.public ? ", public" : ""}`;

// unplayed says what places would have shown that were opened and not dealt.
const unplayed = (cards?: ShownCard[]): string => cards
  ? ` The shuffle ended without a deal of these places. They would have shown ${cards.map((c) => c.card ?? c.shows ?? c.value).join(" ")}.`
  : " The co-dealer entered this, no card of it was opened to the house, and the shuffle ended without a deal of these places.";

// blindSection says of a blind shuffle what it shows, and what it does not.
export function blindSection({ blind: b, not_blind: why }: Verdict): HTMLElement | null {
  if (why) return el("section", {}, el("h3", {}, "Not dealt blind"), el("p", {}, NOT_BLIND[why]!));
  if (!b) return null;
  const asked = b.requests.map((r) => el("li", {}, `${r.places === 1 ? `Place ${r.place}` : `Places ${r.place} to ${r.place + r.places - 1}`}: asked for ${r.time === undefined ? "" : `at ${when(r.time)} by its clock, `}`
    + `in one request (${r.runs.map(runOf).join("; ")})${r.state ? ", with a hash of a history that nobody checked here" : ""}. The file does not show that this was not early.${r.unplayed ? unplayed(r.cards) : ""}`));
  return el("section", {}, el("h3", {}, "Dealt blind"),
    el("p", {}, `Another organisation, ${b.co_dealer}, gave the order of the places. Before it entered a request in its own ledger, nobody with only the house’s machines, keys and staff could know more of what its places show than which cards were left. From then on the house could not change which of them go to which name.`),
    el("ol", {}, ...asked),
    el("p", { class: "help" }, `That the house’s deck held each card once is ${b.order_checked ? "checked" : "not checked here"}.`),
    el("p", { class: "help" }, "The house sees cards once they are dealt. That the two are different parties, no file shows."));
}
