// What a verdict says of the file (10.4), and the story that the page tells with it.
import { time, toBase64 } from "./bytes.ts";
import { dealt } from "./cardsteps.ts";
import { CARDS, CONTINUED, ORDER, TAPE, TICKET_LIST, nameOf, told } from "./codes.ts";
import { positions, ranges } from "./draws.ts";
import { checkpoints } from "./ledgersteps.ts";
import { isPublic } from "./legality.ts";
import { choiceLeft } from "./level.ts";
import { labelOf } from "./terms.ts";
import type { Card, Checkpoint, Close, Entry, EvidenceFile, Of, PassedOver, Run, ShownCard, Story, ToldTakeover, Verdict, Whole, Witness } from "./types.ts";

// describe gives the members of 10.4 that can be read from the file so far. Cards are among them
// only if every step holds.
export function describe(s: Whole, v: Verdict): Partial<Verdict> {
  const out: Partial<Verdict> = { production: false };
  if (s.file === undefined) return out;
  const { checkpoint, kind, receipts } = s.file;
  Object.assign(out, { kind, ledger: checkpoint.origin, checkpoint: { origin: checkpoint.origin, size: checkpoint.size } });
  if (v.steps[1]?.result !== "ok") return out;
  out.passed_over = passedOver(s.file);
  const cosigned = (c: Checkpoint) => [...c.cosigned ?? []], say = ([w, seconds]: [Witness, number]) => ({ name: w.called, time: time(seconds * 1000) });
  if (v.level !== undefined && (kind === "receipt" || s.file.keys.length === 0)) out.key_in_force = "not_shown";
  const early = v.level === "witnessed" || v.level === "mixed" ? cosigned(checkpoints(s.file).at(-1)!) : undefined;
  out.witnesses = early?.map(say);
  if (v.verdict === "proved") { // a witness is late if none of its lines is in early
    const late = cosigned(checkpoint).filter(([w]) => !early?.some(([x]) => x.node === w.node));
    if (late.length > 0) out.late = late.map(say);
  }
  out.production = (s.genesis?.entry.genesis ?? s.commit?.entry.commit.context)?.production ?? false;
  if (kind === "receipt") {
    const { index, entry } = receipts[0]!;
    out.entry = { index, type: entry.opaque ? told("entry", entry.opaque.type) : entry.type, time: time(entry.time), identity: entry.identity, credential: entry.credential };
    const body = entry.mix ?? entry.deal ?? entry.close ?? entry.takeover ?? entry.reveal ?? entry.disclosure;
    return Object.assign(out, { id: body?.shuffle || undefined }, s.commit && describeCommit(s.commit),
      entry.close && { state: entry.close.outcome === CONTINUED ? "continued" : "closed", ...describeClose(entry, entry.close) });
  }
  const runs = dealt(s);
  Object.assign(out, { recipient: s.file.recipient, owner: s.commit.entry.identity }, describeCommit(s.commit));
  Object.assign(out, { shuffled: s.shuffled, terms: s.terms });
  if (v.level !== undefined && s.context.terms?.kind === TICKET_LIST && v.mixed?.[0]?.for !== "everybody") out.terms!.house_could_choose = true;
  if (s.takeovers.length > 0) out.takeovers = describeTakeovers(s);
  const shown = (s.revealed as Set<number> | undefined) && runs.filter((run, place) => isPublic(s, runs, place)).length;
  Object.assign(out, { next: runs.length || undefined, shown: shown || undefined, state: s.disclosed ? "closed" : s.close ? "continued" : "open" });
  out.last_round = runs.at(-1)?.round || undefined;
  if (out.last_round && (!s.disclosed || s.close!.entry.close.outcome === CONTINUED)) out.last_goes_on = true;
  if (s.context.end_at.form === 2) out.end_at = s.endAt;
  if (s.close) Object.assign(out, describeClose(s.close.entry, s.close.entry.close));
  out.statements = s.stated;
  if (v.level !== undefined && s.file.cards.length > 0) out.cards = s.file.cards.map((card) => describeCard(s, card, runs[card.place]!));
  return out;
}

// passedOver counts the codes that were passed over, by list and code (1.4). It gives undefined if there are none.
function passedOver({ receipts }: EvidenceFile): PassedOver[] | undefined {
  const found = new Map<string, PassedOver>();
  for (const { index, entry } of receipts) {
    for (const { list, code } of entry.passed) {
      const seen = found.get(`${list} ${code}`) ?? { list, code, count: 0, first: index };
      found.set(`${list} ${code}`, { ...seen, count: seen.count + 1 });
    }
  }
  return found.size === 0 ? undefined : [...found.values()].sort((a, b) => a.list === b.list ? a.code - b.code : a.list < b.list ? -1 : 1);
}

function describeTakeovers(s: Whole): ToldTakeover[] {
  let from = s.commit.entry.identity, place = 0;
  const out: ToldTakeover[] = [];
  for (const { index, entry } of s.file.receipts) {
    if (entry.deal) place += entry.deal.runs.reduce((n, run) => n + run.cards, 0);
    if (!entry.takeover) continue;
    const { extent, reason: why } = entry.takeover, { identity, credential } = entry;
    out.push({ index, time: time(entry.time), identity, credential, from, place, extent: told("extent", extent), reason: why });
    from = identity;
  }
  return out;
}

// dealers gives the identities that dealt, in the order of the deals, each with its first and last place.
function dealers(s: Whole): Story["dealers"] {
  const out: Story["dealers"] = [];
  let place = 0;
  for (const { entry: { identity, deal } } of s.deals) {
    if (out.at(-1)?.identity !== identity) out.push({ identity, first: place, last: place });
    place += deal.runs.reduce((n, run) => n + run.cards, 0);
    out.at(-1)!.last = place - 1;
  }
  return out;
}

// tell gives what the page says of a shuffle whose steps hold, and the verdict does not.
export function tell(s: Whole): Story {
  const { kind, plan, parent, end_at, n, m } = s.context, values = s.mix?.entry.mix.values, runs = dealt(s);
  const order = runs.findIndex((run) => run.purpose === ORDER);
  return {
    deck: s.file.deck, ranges: kind === CARDS ? null : ranges(s.context), of: s.context.of ?? null, cards: n, taken: m,
    coDealer: plan[0]?.origin,
    plan: plan.map((p, i) => ({ source: told("source", p.source), mine: s.mine?.has(i) ?? false, round: p.round, cut: values?.[i - Number(plan[0]!.commit !== undefined)]?.cut })).filter((p) => p.source !== "co_dealer"),
    mixed: Boolean(s.mix), dealers: dealers(s), choice: plan.length > 0 ? choiceLeft(s.context) : null,
    parent: parent && { id: parent.id, cards: parent.positions.length },
    cutCard: end_at.form === 0 ? null : { place: end_at.place ?? s.endAt, lo: end_at.lo, hi: end_at.hi },
    order: order < 0 ? null : { first: order, cards: runs.length - order },
    dealt: runs.map((run, place) => ({ purpose: told("purpose", run.purpose), recipient: run.recipient || undefined, public: isPublic(s, runs, place), round: run.round })),
    tape: !s.disclosed ? "secret" : s.disclosed.form === TAPE ? "public" : "sealed",
  };
}

const describeClose = ({ time: at }: Entry, { outcome, reason: why }: Close) => ({ closed_at: time(at), outcome: told("outcome", outcome), reason: why === 0 ? undefined : told("reason", why) });

function describeCommit({ index, entry }: Of<"commit">): Partial<Verdict> {
  const c = entry.commit;
  return {
    id: index, table: c.context.table, serial: c.serial, game_ref: c.game_reference || undefined,
    commitment: toBase64(c.commitment), deck_root: toBase64(c.deck_root),
    disclosure: nameOf("disclosure", c.context.disclosure),
    committed_at: time(entry.time), close_by: time(c.close_by),
    places: positions(c.context), end_at: c.context.end_at.place,
  };
}

export function describeCard(s: Whole, card: Card, run: Run): ShownCard {
  const { place, position, value } = card;
  return {
    place, position, value, shows: s.context.kind === CARDS ? undefined : s.shown(card), card: card.card,
    label: s.terms?.labels && labelOf(s.terms.labels, s.shown(card)),
    purpose: told("purpose", run.purpose), recipient: run.recipient || undefined, public: run.public, round: run.round || undefined,
    revealed: s.revealed.has(place) || undefined,
  };
}
