// The rule co_dealer, and what the rule reveal says about a co-dealer (9).
import { equal } from "./bytes.ts";
import { ASIDE, CARDS, CODEALER_REASON, EXPIRED, NUMBERS, ORDER, SEAT, TAPE_LOST, VOID } from "./codes.ts";
import { coDealer, unplayed } from "./blindsteps.ts";
import { strongKey } from "./curves.ts";
import { positions, ranges } from "./draws.ts";
import type { Must } from "./legality.ts";
import { deckHash } from "./terms.ts";
import type { Blind, Close, Commit, Deal, Foreign, Run, Whole } from "./types.ts";

export function blindCommit({ context: c, ask_key }: Commit, must: Must): void {
  if (c.for_ledger !== undefined) return forLedger(c.for_ledger, c, ask_key !== undefined, must);
  const named = coDealer(c) !== undefined;
  must(named === (ask_key !== undefined), "co_dealer", "has an ask key without a co-dealer, or a co-dealer without an ask key");
  if (!named) return;
  must(!c.parent, "co_dealer", "is a child, and has a co-dealer");
  must(c.kind !== CARDS || c.m === c.n, "co_dealer", "has a co-dealer, and does not take all cards");
  must(strongKey(ask_key!), "co_dealer", "has an ask key that is no point of edwards25519, or a weak one");
}

function forLedger(ledger: string, c: Commit["context"], asks: boolean, must: Must): void {
  must(ledger !== c.origin, "co_dealer", "is an order for its own ledger");
  must(!c.parent && c.plan.length === 0 && c.end_at.form === 0 && !c.terms && !asks, "co_dealer", "is an order for another ledger, with a parent, plan, end_at, terms or ask key");
  must(c.kind !== NUMBERS, "co_dealer", "is an order for another ledger, and of numbers");
  if (c.kind !== CARDS) return;
  must(c.m === c.n, "co_dealer", "is an order for another ledger, and not of all positions");
  must(equal(deckHash(Array.from({ length: c.n }, (_, i) => String(i))), c.deck_hash!), "co_dealer", "is an order for another ledger, and not of positions");
}

// aside tells whether the places of a run are aside (8). The co-dealer does not open them.
const aside = (run: Run) => !run.public && ASIDE.includes(run.purpose);

export function blindDeal(s: Whole, { first_place, final, runs, blind, asked }: Deal, must: Must): void {
  const named = coDealer(s.context) !== undefined, order = s.context.for_ledger !== undefined;
  must(named === (blind !== undefined), "co_dealer", "holds what a co-dealer gave, without one, or does not");
  must(order === (asked !== undefined), "co_dealer", "holds what was asked for, and is of no order for another ledger, or does not");
  if (!named && !order) return;
  must(runs.reduce((n, run) => n + run.cards, 0) <= 64, "co_dealer", "has more than 64 places");
  must(runs.every((run) => run.purpose !== ORDER && (run.recipient !== "" || run.purpose !== SEAT && (run.public || aside(run)))), "co_dealer", "leaves open who gets its cards");
  must(!order || !final, "co_dealer", "is final, and the close of an order follows the close of the shuffle that it is for");
  if (asked) mustCover(asked.commit, asked.head, must);
  if (!blind) return;
  mustFollow(s, blind, must);
  give(s, first_place, runs, blind.values, must);
}

// mustCover refuses a checkpoint of the other ledger that does not cover the entry that it is named for.
function mustCover({ index }: Foreign, head: Foreign, must: Must): void {
  must(index < head.index, "co_dealer", `names a checkpoint of ${head.index} entries for entry ${index} of the other ledger`);
}

// mustFollow refuses a deal of the co-dealer that does not come after the co-dealer's commit, or
// that the checkpoint named with it does not cover.
function mustFollow({ context }: Whole, { deal, head }: Blind, must: Must): void {
  must(deal.index > coDealer(context)!.index, "co_dealer", "names a deal of the co-dealer that does not stand behind its commit");
  mustCover(deal, head, must);
}

// give keeps the co-dealer's values by place. There is one for each place that is not aside.
function give(s: Whole, first: number, runs: Run[], values: number[], must: Must): void {
  const ks = ranges(s.context), left = [...values], cards = s.context.kind === CARDS, seen = new Set(s.given.values());
  let place = first;
  for (const run of runs) {
    for (const end = place + run.cards; place < end; place++) {
      if (aside(run)) continue;
      const v = left.shift();
      must(v !== undefined, "co_dealer", "has fewer values of the co-dealer than places");
      must(cards ? v! < s.context.m : v! >= 1 && v! <= ks[place]!, "co_dealer", `has a value of the co-dealer for place ${place} that is out of range`);
      must(!cards || !seen.has(v!), "co_dealer", `has position ${v} of the co-dealer twice`);
      seen.add(v!);
      s.given.set(place, v!);
    }
  }
  must(left.length === 0, "co_dealer", "has more values of the co-dealer than places");
}

export function blindReveal(s: Whole, run: Run, place: number, must: Must): void {
  must(s.context.for_ledger === undefined, "reveal", "is of an order for another ledger, which shows nothing by itself");
  must(!coDealer(s.context) || !aside(run), "reveal", `names place ${place}, a burn or discard, which the co-dealer did not open`);
}

export function blindClose(s: Whole, close: Close, must: Must): void {
  const { outcome, reason, blind, follows } = close, opened = unplayed(close), of = coDealer(s.context), order = s.context.for_ledger !== undefined;
  must(reason !== CODEALER_REASON || of !== undefined, "co_dealer", "is void for a co-dealer, and has none");
  must(of ? blind !== undefined || reason === TAPE_LOST : !blind, "co_dealer", "holds what the house knew of a co-dealer's order, without one, or does not");
  must(!opened || outcome === VOID || outcome === EXPIRED, "co_dealer", "names what was not played, with another outcome than void and expired");
  must(!follows || order, "co_dealer", "follows a shuffle of another ledger, and is of no order for it");
  must(!follows || follows.places === s.next, "co_dealer", "names another number of places than were dealt from the order");
  must(!order || follows !== undefined || outcome === EXPIRED || reason === TAPE_LOST || outcome === VOID && s.next === 0, "co_dealer", "is of an order that was dealt from, and does not follow the shuffle that it is for");
  if (opened) { mustFollow(s, opened, must); mustFitUnplayed(s, opened.values, must); } else if (blind) mustCover(of!, blind.head, must);
}

// mustFitUnplayed checks values like give, except for what needs the runs, which a close does not hold.
function mustFitUnplayed({ context, given, next }: Whole, values: number[], must: Must): void {
  must(values.length <= positions(context) - next, "co_dealer", "names more values that were not played than places are left");
  if (context.kind !== CARDS) return;
  must(values.every((v) => v < context.m), "co_dealer", "names a value that was not played, and is out of range");
  must(new Set([...given.values(), ...values]).size === given.size + values.length, "co_dealer", "names a position of the co-dealer twice");
}
