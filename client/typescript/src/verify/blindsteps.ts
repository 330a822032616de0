// The co-dealer's evidence: its part of the steps entries and openings, the steps asked and
// co_dealer (10.1), and what a verdict says of it (SPEC-BLIND 8).
import { equal, join, label, str8, toBase64, u16, u64, time } from "./bytes.ts";
import { ASIDE, CARDS, CONTINUED, EXPIRED, NUMBERS, SIGNING, TAPE_LOST, VOID, told } from "./codes.ts";
import { mustOpen } from "./cardsteps.ts";
import { canEd25519, ed25519 } from "./curves.ts";
import { positions, ranges } from "./draws.ts";
import { describeCard } from "./describe.ts";
import { parseEntry } from "./entries.ts";
import { Fault } from "./errors.ts";
import { checkpoints, cosignatures, follow, mustBegin, mustMeet, signedBy } from "./ledgersteps.ts";
import { opens } from "./openings.ts";
import { ownWitness } from "./policy.ts";
import { sha256 } from "./sha256.ts";
import { many, skip, type Outcome } from "./step.ts";
import { climb, leafOf } from "./tree.ts";
import type { Blind, Blindness, Bytes, Card, Checkpoint, Close, Context, Deal, Foreign, Last, Of, Order, Policy, Receipt, Run, Verdict, Whole } from "./types.ts";

// coDealer gives the co-dealer's commit that a plan names, undefined if it names none.
export const coDealer = (c: Context): Foreign | undefined => c.plan[0]?.commit;

// unplayed gives the co-dealer's deal that a close names as not played, undefined if it names none.
export const unplayed = (c: Close): Blind | undefined => c.blind && c.blind.deal.index > 0 ? c.blind : undefined;

// readHandovers parses the entries of the member keys. It refuses an entry that is not of a signing
// key, is not the last of its checkpoint or does not ascend.
export function readHandovers(keys: Of<"key">[]): void {
  let last = -1;
  for (const r of keys) {
    r.entry = parseEntry(r.bytes) as typeof r.entry;
    if (r.entry.type !== "key" || r.entry.key.subject !== SIGNING) throw new Fault(`entry ${r.index}, among the keys: no signing key`);
    if (r.index <= last) throw new Fault(`entry ${r.index}, among the keys: its index does not ascend`);
    if (r.checkpoint.size !== r.index + 1) throw new Fault(`entry ${r.index}, among the keys: not the last of its checkpoint`);
    last = r.index;
  }
}

// readOrder is the co-dealer's part of the step entries. Its receipts are a commit, then deals,
// then at most one close, all of one order, in ascending order of index. It gives null if the plan
// names no co-dealer.
export function readOrder({ file }: Pick<Whole, "file">, context: Context): Order | null {
  const given = file.co_dealer;
  if ((coDealer(context) !== undefined) !== (given !== undefined)) throw new Fault("evidence of a co-dealer stands in the file of a shuffle whose plan names one, and in no other");
  if (given === undefined) return null;
  const { receipts, keys } = given, id = receipts[0]!.index, deals: Of<"deal">[] = [];
  let close: Of<"close"> | null = null;
  for (const [i, r] of receipts.entries()) {
    const { deal, close: closes, commit } = r.entry = parseEntry(r.bytes);
    if (close || i > 0 && r.index <= receipts[i - 1]!.index) throw new Fault(`entry ${r.index} of the co-dealer: out of order`);
    if (i === 0 ? !commit : (deal ?? closes)?.shuffle !== id || closes?.outcome === CONTINUED) throw new Fault(`entry ${r.index} of the co-dealer: no part of its order ${id}`);
    if (deal) deals.push(r as Of<"deal">);
    if (closes) close = r as Of<"close">;
  }
  readHandovers(keys);
  return { origin: receipts[0]!.checkpoint.origin, receipts, keys, commit: receipts[0] as Of<"commit">, deals, close, holds: false };
}

// mustOpenBy is the co-dealer's part of the step openings: it opened the place of the card, and the
// deal has the value that it opened.
export function mustOpenBy(s: Whole, card: Card, must: (holds: boolean, what: string) => void): void {
  const { order } = s, by = card.by;
  must((by !== undefined) === (order !== null), "an opening of the co-dealer stands with each card of a shuffle that has one, and with no other");
  if (!by || !order) return;
  const { commit } = order.commit.entry;
  must(s.given.get(card.place) === by.value, "the deal has another value of the co-dealer");
  must(opens(commit.tag, commit.deck_root, positions(commit.context), { ...by, position: card.place }), "it does not open the co-dealer's deck root");
}

const same = (a: Foreign, index: number, leaf: Bytes) => a.index === index && equal(a.leaf, leaf);
const isOf = (a: Foreign, r: Receipt) => same(a, r.index, leafOf(r.bytes));

// runsOf gives the bytes of a deal's runs (5.5).
const runsOf = ({ runs }: Deal) => join(u16(runs.length),
  ...runs.flatMap((run) => [u16(run.cards), Uint8Array.of(run.purpose), str8(run.recipient), Uint8Array.of(run.public ? 1 : 0), u16(run.round)]));

// mustAsk refuses a deal of the order unless this shuffle asked for it, after the entry with the
// leaf hash before, with a signature under its ask key (SPEC-BLIND 2).
async function mustAsk(s: Whole, { entry: { deal }, index }: Of<"deal">, before: Bytes): Promise<void> {
  const { asked } = deal, { commit } = s;
  if (!asked || !isOf(asked.commit, commit)) throw new Fault(`entry ${index} of the co-dealer: asked for by another shuffle`);
  if (!equal(asked.after, before)) throw new Fault(`entry ${index} of the co-dealer: not behind the entry that stands before this deal`);
  const message = join(label("ask"), u64(asked.commit.index), asked.commit.leaf, asked.after, asked.state, u16(deal.first_place), runsOf(deal));
  if (!await ed25519(commit.entry.commit.ask_key!, asked.ask, message)) throw new Fault(`entry ${index} of the co-dealer: the request is not signed under the ask key`);
}

export async function stepAsked(s: Whole): Promise<Outcome> {
  const { order } = s;
  if (!order) return skip("the shuffle has no co-dealer");
  if (!await canEd25519()) { s.cannot = "Ed25519"; return skip("this browser cannot check Ed25519 signatures"); }
  mustFit(s, order);
  if (order.deals.length < s.deals.length) throw new Fault(`${many(order.deals.length, "deal")} of the co-dealer for ${s.deals.length}`);
  let before = leafOf((s.mix ?? s.commit).bytes);
  for (const [i, r] of s.deals.entries()) {
    const of = order.deals[i]!, { deal } = r.entry;
    if (!isOf(deal.blind!.deal, of)) throw new Fault(`entry ${r.index} names another deal of the co-dealer than entry ${of.index}`);
    if (!same(deal.blind!.head, of.checkpoint.size, of.checkpoint.root)) throw new Fault(`entry ${r.index} names another checkpoint of the co-dealer than the one over its entry ${of.index}`);
    if (of.entry.deal.first_place !== deal.first_place || !equal(runsOf(of.entry.deal), runsOf(deal))) throw new Fault(`entry ${r.index} has other runs than the co-dealer was asked for`);
    await mustAsk(s, of, before);
    before = leafOf(r.bytes);
  }
  const rest = order.deals.slice(s.deals.length), named = s.close && unplayed(s.close.entry.close);
  if (rest.length !== (named ? 1 : 0)) throw new Fault(`${many(rest.length, "deal")} of the co-dealer ${rest.length === 1 ? "was" : "were"} not dealt on, and the close names ${named ? "one" : "none"}`);
  if (named) {
    if (!isOf(named.deal, rest[0]!)) throw new Fault("the close names another deal of the co-dealer as not played");
    if (!s.mix && s.context.plan.length > 1) throw new Fault("what was not played was asked for, and the mix is missing");
    const { deal } = rest[0]!.entry;
    if (deal.first_place !== asked(order) - count(deal) || asked(order) > positions(s.context)) throw new Fault(`what was not played, from place ${deal.first_place} on, are not the next places`);
    await mustAsk(s, rest[0]!, before);
    mustShowUnplayed(s, deal, named.values);
  } else if (s.file.co_dealer!.unplayed.length > 0) {
    throw new Fault("the file opens what was not played, and the close names none");
  }
  const { outcome, reason, follows } = order.close?.entry.close ?? { outcome: EXPIRED };
  if (follows && follows.places < asked(order)) throw new Fault(`${many(asked(order), "place")} were asked of the co-dealer's order, and its close names ${follows.places}`);
  const alone = outcome === EXPIRED || reason === TAPE_LOST || outcome === VOID && !follows && order.deals.length === 0;
  if (!alone && !(s.close && follows && isOf(follows, s.close))) throw new Fault("the co-dealer's order was closed, and not behind the close of the shuffle");
  return `${many(s.deals.length, "request")}, each behind the entry before it`;
}

const count = ({ runs }: Deal): number => runs.reduce((n, run) => n + run.cards, 0);

// asked gives how many places of the order the file shows as asked for.
const asked = ({ deals }: Order): number => deals.reduce((n, r) => n + count(r.entry.deal), 0);

// dealtOn says of a closed shuffle whether the co-dealer opened more of its places than were dealt, or named as not
// played (SPEC-BLIND 8). The co-dealer's ledger has a void order that follows nothing only undealt.
export function dealtOn({ order, close }: Whole): Pick<Verdict, "dealt_on" | "not_dealt_on"> {
  if (!order || !close) return {};
  const end = order.close?.entry.close, more = (end?.follows?.places ?? 0) - asked(order);
  if (order.holds && more > 0) return { dealt_on: "opened_only", not_dealt_on: more };
  const shown = order.holds && end && (end.follows || end.outcome === VOID && end.reason !== TAPE_LOST);
  return shown ? {} : { dealt_on: "not_shown" };
}

// opened lists the places of a deal that are not aside.
const opened = ({ first_place, runs }: Deal): number[] => runs
  .flatMap((run) => Array<boolean>(run.cards).fill(!run.public && ASIDE.includes(run.purpose)))
  .flatMap((aside, i) => aside ? [] : [first_place + i]);

// mustFit refuses an order that is not the one in the plan, or that is not made for this shuffle.
function mustFit(s: Whole, order: Order): void {
  const { commit } = s.commit.entry, of = order.commit.entry.commit, a = commit.context, b = of.context;
  const list = (c: Context) => c.kind === CARDS ? [c.n] : ranges(c);
  if (order.origin !== a.plan[0]!.origin || !isOf(coDealer(a)!, order.commit)) throw new Fault("the co-dealer's commit is not the one that the plan names");
  if (b.for_ledger !== a.origin) throw new Fault(`the co-dealer's order is for ${b.for_ledger ?? "nobody"}, not for ${a.origin}`);
  if (b.production !== a.production || b.disclosure !== a.disclosure) throw new Fault("the co-dealer's order differs in production or disclosure");
  if ((a.kind === CARDS) !== (b.kind === CARDS) || String(list(a)) !== String(list(b))) throw new Fault("the co-dealer's order is of other positions or ranges");
  if (of.close_by < commit.close_by + 3_600_000) throw new Fault("the co-dealer's order closes less than an hour behind the shuffle");
}

// mustShowUnplayed checks the deal that the close names as not played. The close has a value for
// each place of it that is not aside, or no value at all. The file opens each place that has a
// value, like a dealt one.
function mustShowUnplayed(s: Whole, deal: Deal, values: number[]): void {
  const { context: c, file } = s, places = opened(deal), cards = file.co_dealer!.unplayed, ks = ranges(c);
  if (values.length > 0 && places.length !== values.length) throw new Fault(`the close names ${many(values.length, "value")} that were not played, and ${places.length} were asked for`);
  if (cards.length !== values.length) throw new Fault(`the close names ${many(values.length, "value")} that were not played, and the file opens ${cards.length}`);
  const seen = new Set(file.cards.map((card) => card.value));
  for (const [i, card] of cards.entries()) {
    const place = places[i]!;
    const must = (holds: boolean, what: string) => { if (!holds) throw new Fault(`place ${place}, which was not played: ${what}`); };
    must(c.kind === CARDS || values[i]! >= 1 && values[i]! <= ks[place]!, "the co-dealer's value is out of range");
    must(c.kind !== NUMBERS || place === file.cards.length + i, "which number it shows hangs on places that are not shown");
    s.given.set(place, values[i]!);
    must(card.place === place && card.position === s.positionAt(place), `the file opens place ${card.place} at position ${card.position}`);
    must(c.kind !== CARDS || !seen.has(card.value), "this card is shown twice");
    seen.add(card.value);
    mustOpen(s, card, must);
  }
}

export async function stepCoDealer(s: Whole): Promise<Outcome> {
  const { order } = s, policy = s.trust.second;
  if (!order) return skip("the shuffle has no co-dealer");
  if (!policy) return skip("no policy for the co-dealer is given");
  if (policy.logs.length === 0) return skip("the co-dealer's policy pins no key");
  if (!policy.quorum || policy.quorum.d === 0) return skip("two quorums of the co-dealer's policy share no witness");
  if (!await canEd25519()) { s.cannot = "Ed25519"; return skip("this browser cannot check Ed25519 signatures"); }
  mustBeApart(s, order, policy);
  const chain = await follow(order.keys, order.origin, policy.logs);
  mustGrow(order, s.file.co_dealer!.heads);
  mustBeOneHistory(s, order);
  for (const { index, checkpoint } of order.receipts) {
    if (!await signedBy(checkpoint, chain)) throw new Fault(`entry ${index} of the co-dealer: no signature by a key that is trusted`);
    const seen = await cosignatures(checkpoint, policy.witnesses);
    mustMeet(policy.quorum, policy.witnesses, checkpoint, seen, `entry ${index} of the co-dealer: ${seen.size} of ${many(policy.witnesses.length, "witness", "witnesses")} cosigned the checkpoint`);
  }
  order.holds = s.file.co_dealer!.heads.length === order.receipts.length - 1;
  return `${many(order.receipts.length, "entry", "entries")} of ${order.origin}${order.holds ? "" : ", of which the file does not show that they are of one history"}`;
}

// mustGrow refuses a receipt that does not lead to the root of its checkpoint, a checkpoint whose tree does not begin with
// that of the one before, and a key that is not under the first checkpoint that covers its entry.
function mustGrow({ receipts, keys }: Order, heads: Last[]): void {
  for (const [i, { index, bytes, checkpoint, proof }] of receipts.entries()) {
    const root = climb(leafOf(bytes), index, checkpoint.size, proof), head = heads[i - 1];
    if (root === null || !equal(root, checkpoint.root)) throw new Fault(`entry ${index} of the co-dealer: its proof does not lead to the root of the checkpoint`);
    if (head) mustBegin(receipts[i - 1]!.checkpoint, checkpoint, head.leaf, head.path);
  }
  for (const { index, bytes, checkpoint, proof } of keys) {
    const under = receipts.find((r) => r.checkpoint.size > index);
    if (!under) throw new Fault(`the key of entry ${index} of the co-dealer is above each of its checkpoints`);
    mustBegin(checkpoint, under.checkpoint, leafOf(bytes), proof);
  }
}

// mustBeOneHistory refuses two roots of a ledger at one size: of the co-dealer's in the checkpoints of the file and in
// the one that the house's close names, of the house's in the checkpoints of the file and in those that the deals of the
// order name. The step asked compares those that the house's deals name.
function mustBeOneHistory({ close, file }: Whole, order: Order): void {
  const head = ({ size, root }: Checkpoint) => ({ index: size, leaf: root }), last = close?.entry.close.blind;
  const one = (origin: string, heads: Foreign[]) => {
    const roots = new Map<number, Bytes>();
    for (const { index: size, leaf: root } of heads) {
      if (!equal(roots.get(size) ?? root, root)) throw new Fault(`${many(size, "entry", "entries")} of ${origin} have two roots: it was forked, or the other party wrote another root`);
      roots.set(size, root);
    }
  };
  one(order.origin, [...order.receipts.map((r) => head(r.checkpoint)), ...last ? [last.head] : []]);
  one(file.checkpoint.origin, [...[...checkpoints(file), ...file.keys.map((r) => r.checkpoint)].map(head), ...order.deals.map((r) => r.entry.deal.asked!.head)]);
}

// mustBeApart refuses a co-dealer that has the house's origin or one of its signing keys, and a
// witness of the one that has the name or a signing key of the other.
function mustBeApart(s: Whole, order: Order, policy: Policy): void {
  const { file, trust } = s, origin = file.checkpoint.origin;
  if (order.origin === origin) throw new Fault(`${origin} is the house's own ledger`);
  const second = [...policy.logs.map((log) => log.typed), ...order.keys.map((r) => r.entry.key.key!)];
  const own = [s.genesis.entry.genesis.signing_key, ...file.keys.map((r) => r.entry.key.key!)];
  own.push(...trust.logs.map((log) => log.typed));
  if (second.some((key) => own.some((k) => equal(k, key)))) throw new Fault("a key of the co-dealer is the house's");
  const bad = ownWitness(policy.witnesses, origin, own) ?? ownWitness(trust.witnesses, order.origin, second);
  if (bad) throw new Fault(`the two policies mix house and co-dealer: ${bad}`);
}

// behind tells whether a request's state is the hash of the first lines of the history that the
// verifier was given, and how many lines these are (SPEC-BLIND 3).
function behind(history: Bytes | undefined, state: Bytes): { history?: "checked" | "differs"; line?: number } {
  if (history === undefined || state.every((b) => b === 0)) return {};
  let line = 0;
  for (let end = 0; ; end = history.indexOf(10, end) + 1, line++) {
    if (equal(sha256(label("state"), history.subarray(0, end)), state)) return { history: "checked", line };
    if (end === history.length) return { history: "differs" };
  }
}

// blindness gives the members blind and not_blind of the verdict on a file whose steps hold (SPEC-BLIND 8).
// It gives neither for a receipt, or without a policy for the co-dealer.
export function blindness(s: Whole, proved: boolean): { blind?: Blindness; not_blind?: string } {
  const { order, trust, file, deals } = s;
  if (!trust.second || file.kind === "receipt") return {};
  if (!order) return { not_blind: "no_co_dealer" };
  if (!proved || trust.second.logs.length === 0) return { not_blind: "key_not_pinned" };
  if (!trust.second.quorum?.d) return { not_blind: "no_common_witness" };
  if (order.deals.length === 0) return { not_blind: "not_dealt" };
  if (!order.holds) return { not_blind: "not_one_history" };
  const cards = file.co_dealer!.unplayed, runOf = (deal: Deal, place: number) => deal.runs.flatMap((run) => Array<Run>(run.cards).fill(run))[place - deal.first_place]!;
  const requests = order.deals.map(({ entry }, i) => {
    const { first_place: place, runs, asked } = entry.deal, { state } = asked!;
    return { place, places: count(entry.deal), time: time(entry.time),
      runs: runs.map((run) => ({ places: run.cards, purpose: told("purpose", run.purpose), recipient: run.recipient || undefined, public: run.public || undefined, round: run.round || undefined })),
      state: state.some((b) => b !== 0) ? toBase64(state) : undefined, ...behind(trust.history, state), unplayed: i >= deals.length || undefined,
      cards: i < deals.length || cards.length === 0 ? undefined : cards.map((card) => describeCard(s, card, runOf(entry.deal, card.place))) };
  });
  return { blind: { co_dealer: order.origin, requests, closed: order.close ? true : undefined, order_checked: s.values !== undefined } };
}
