// What a blind shuffle was asked for, and when.
import { el } from "./dom.ts";
import { iso, of, t, when } from "./words.ts";
import type { AskedRun, ShownCard, Verdict } from "../src/verify/types.ts";

// runOf says for whom a part of a request is.
const runOf = (run: AskedRun): string => t.run(run.places, of(t.purposes, run.purpose)?.[1] ?? iso(run.purpose), run.recipient && iso(run.recipient), Boolean(run.public));

// unplayed says what places would have shown that were opened and not dealt.
const unplayed = (cards?: ShownCard[]): string => cards ? t.unplayed(iso(cards.map((c) => c.card ?? c.shows ?? c.value).join(" "))) : t.unplayedUnseen;

// blindSection says of a blind shuffle what it shows, and what it does not.
export function blindSection({ blind: b, not_blind: why }: Verdict): HTMLElement | null {
  if (why) return el("section", {}, el("h3", {}, t.notBlind), el("p", {}, of(t.whyNotBlind, why)));
  if (!b) return null;
  const asked = b.requests.map((r) => el("li", {}, t.asked(t.places(r.place, r.place + r.places - 1), r.time && when(r.time), r.runs.map(runOf).join("; "), Boolean(r.state)), r.unplayed ? ` ${unplayed(r.cards)}` : ""));
  return el("section", {}, el("h3", {}, t.blind),
    el("p", {}, t.blindness(iso(b.co_dealer))),
    el("ol", {}, ...asked),
    el("p", { class: "help" }, b.order_checked ? t.orderChecked : t.orderNotChecked),
    el("p", { class: "help" }, t.blindLimits));
}
