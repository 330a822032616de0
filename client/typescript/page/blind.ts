// What the page says about blind dealing (SPEC-BLIND 8).
import { ofBlind } from "./conclusions.ts";
import { el } from "./dom.ts";
import { iso, of, t, when } from "./words.ts";
import type { AskedRun, ShownCard, Verdict } from "../src/verify/types.ts";

// runOf gives the words for a run of a request.
const runOf = (run: AskedRun): string => t.run(run.places, of(t.purposes, run.purpose)?.[1] ?? iso(run.purpose), run.recipient && iso(run.recipient), Boolean(run.public));

// unplayed gives the words for places that the co-dealer entered and that were not dealt: what they would
// have shown, if the file opens them.
const unplayed = (cards?: ShownCard[]): string => cards ? t.unplayed(iso(cards.map((c) => c.card ?? c.shows ?? c.value).join(" "))) : t.unplayedUnseen;

// blindSection says what a blind shuffle shows and what it does not, or why a shuffle is not blind.
export function blindSection(v: Verdict): HTMLElement | null {
  const { blind: b, not_blind: why } = v;
  const says = ofBlind(v);
  if (why) return el("section", {}, el("h3", {}, t.notBlind), ...says);
  if (!b) return null;
  const asked = b.requests.map((r) => el("li", {}, t.asked(t.places(r.place, r.place + r.places - 1), r.time && when(r.time), r.runs.map(runOf).join("; "), Boolean(r.state)), r.unplayed ? ` ${unplayed(r.cards)}` : ""));
  return el("section", {}, el("h3", {}, t.blind), ...says, el("ol", {}, ...asked));
}
