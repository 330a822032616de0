// Comparison of answers with their requests, their entries and the commit.
import { isQuicknet, roundTime } from "../verify/beacon.ts";
import { equal, fromBase64, toBase64 } from "../verify/bytes.ts";
import { ASIDE, BEACON, CONTINUED, SLOT, TAPE, TAPE_LOST, VOID, codeOf, told } from "../verify/codes.ts";
import type { Bodies, Entry, Mix, Run, ShownCard } from "../verify/types.ts";
import type {
  Close,
  CloseRequest,
  Deal,
  DealRequest,
  MixRequest,
  Mix as MixAnswer,
  Reveal,
  Shuffle,
} from "./api.gen.ts";
import { Committed } from "./committed.ts";
import { fault } from "./errors.ts";
import type { Asked, Ledger, Proved, Said } from "./ledger.ts";
import { openAll, proveShown } from "./shown.ts";
import { same } from "./wanted.ts";

export const says = (a: { receipt: string; time: string; repeated?: true }, index: number | null = null): Said => ({
  receipt: a.receipt,
  index,
  time: a.time,
  repeated: a.repeated === true,
});

// proveCommit compares what the daemon says of a shuffle with its commit.
export async function proveCommit(l: Ledger, s: Shuffle, when: Asked, answer: string): Promise<[Committed, Proved]> {
  const e = await l.prove(s.receipt, s.id, when, answer),
    { commit } = e.entry;
  if (
    !commit ||
    commit.context.table !== s.table ||
    commit.serial !== s.serial ||
    toBase64(commit.commitment) !== s.commitment ||
    toBase64(commit.deck_root) !== s.deck_root ||
    new Date(commit.close_by).toISOString() !== s.close_by
  )
    throw fault("it is not what the commit says", answer);
  if (l.production && !commit.context.production) throw fault("it is of a sandbox, and production is wanted", answer);
  for (const p of commit.context.plan)
    if (
      p.source === BEACON && (!isQuicknet(p) || roundTime(p.round!) <= e.entry.time / 1000))
      throw fault("the beacon's round was out when it was planned, or its chain is not known", answer);
  const what = l.tables.add(s.id, commit);
  if (what) throw fault(what, answer);
  return [new Committed(s, commit, e.bytes, e.leaf, e.entry.time, e.entry.identity), e];
}

// acted gives the entry of a command and its body. The entry is proved, this client's own, and
// between the commit and close-by of the shuffle, which a close for a lost tape may be behind. is tells whether the body is what was asked for.
export async function acted<K extends keyof Bodies>(
  l: Ledger,
  s: Committed,
  type: K,
  said: Said,
  when: Asked,
  answer: string,
  is: (body: Bodies[K]) => boolean,
): Promise<[Proved, Bodies[K]]> {
  const e = await l.prove(said.receipt, said.index, when, answer),
    { close } = e.entry,
    body = (e.entry as Entry)[type] as Bodies[K] | undefined;
  const anyTime = close !== undefined && lost(close);
  if (!body || !s.during(e.index, e.entry.time, anyTime) || !is(body))
    throw fault(`the ${type} in the ledger is another one`, answer);
  l.own(e, said, when, answer);
  return [e, body];
}

// proveMix compares a mix with its request, the plan and its entry.
export async function proveMix(
  l: Ledger,
  s: Committed,
  req: MixRequest,
  m: MixAnswer,
  when: Asked,
  answer: string,
): Promise<Proved> {
  const [e, mix] = await acted(l, s, "mix", says(m), when, answer, (b) => b.shuffle === s.id);
  const slots = [...(req.slots ?? [])];
  const right = ({ source, value, cut }: Mix["values"][number], i: number) => {
    if (source !== s.context.plan[i]?.source) return false;
    if (source === SLOT) return toBase64(value!) === slots.shift();
    if (source === BEACON) return req.beacon === undefined || toBase64(value!) === req.beacon;
    return cut === req.cut;
  };
  if (mix.values.length !== s.context.plan.length || !mix.values.every(right) || slots.length > 0)
    throw fault("the mix in the ledger has other values", answer);
  const what = await s.takeMix(mix);
  if (what) throw fault(what, answer);
  return e;
}

const runsOf = (req: DealRequest): Run[] =>
  req.runs.map((r) => ({
    cards: r.count,
    purpose: codeOf("purpose", r.purpose),
    recipient: r.recipient ?? "",
    public: r.public ?? false,
    round: r.round ?? 0,
  }));
const sameRun = (a: Run, b: Run | undefined) =>
  b !== undefined &&
  a.cards === b.cards &&
  a.purpose === b.purpose &&
  a.recipient === b.recipient &&
  a.public === b.public &&
  a.round === b.round;
const isAside = (r: Run) => !r.public && ASIDE.includes(r.purpose);

// proveDeal compares a deal with its request, its entry and the deck root.
export async function proveDeal(
  l: Ledger,
  s: Committed,
  req: DealRequest,
  d: Deal,
  when: Asked,
  answer: string,
): Promise<Proved> {
  const want = runsOf(req);
  const [e, deal] = await acted(
    l,
    s,
    "deal",
    says(d),
    when,
    answer,
    (b) =>
      b.shuffle === s.id &&
      b.first_place === req.first &&
      b.final === (req.close !== undefined) &&
      b.runs.length === want.length &&
      b.runs.every((r, i) => sameRun(r, want[i])),
  );
  const places = deal.runs
    .flatMap((run) => Array.from({ length: run.cards }, () => run))
    .map((run, i) => ({ run, place: req.first + i }));
  const open = places.filter(({ run }) => !isAside(run)),
    shut = places.filter(({ run }) => isAside(run)),
    next = req.first + places.length;
  if (
    d.next !== next ||
    !same(
      d.cards.map((c) => c.place),
      open.map((p) => p.place),
    )
  )
    throw fault(`the cards up to place ${d.next} are not those of the deal`, answer);
  if (
    !same(
      (d.unopened ?? []).map((u) => `${u.place} ${u.purpose} ${u.recipient ?? ""}`),
      shut.map(({ run, place }) => `${place} ${told("purpose", run.purpose)} ${run.recipient}`),
    )
  )
    throw fault("the places that open nothing are not the burns and discards of the deal", answer);
  const opened = openAll(s, d, answer);
  if (!s.cut(d.next, d.last_hand === true))
    throw fault("the cut card has not come out, or has and was not told", answer);
  const labels = await proveShown(l, s, d, opened, answer);
  for (const [i, { run, place }] of open.entries())
    s.cards.set(place, shownCard(d.cards[i]!, run, d.shows?.[i], labels?.[i]));
  s.upTo = Math.max(s.upTo, next);
  if ((req.close === undefined) !== (d.close === undefined)) throw fault("one of deal and close is missing", answer);
  if (req.close && d.close)
    await proveClose(l, s, req.close, d.close, e.index + (req.close.reveal?.length ? 2 : 1), when, answer);
  return e;
}

function shownCard(
  c: Deal["cards"][number],
  run: Run,
  shows: number | undefined,
  label: string | undefined,
): ShownCard {
  return {
    place: c.place,
    position: c.position,
    value: c.value,
    ...(c.card !== undefined && { card: c.card }),
    ...(shows !== undefined && { shows }),
    ...(label !== undefined && { label }),
    purpose: told("purpose", run.purpose),
    ...(run.recipient && { recipient: run.recipient }),
    public: run.public,
    ...(run.round > 0 && { round: run.round }),
  };
}

// proveReveal compares a reveal with what was asked for, its entry and the deck root.
export async function proveReveal(
  l: Ledger,
  s: Committed,
  want: { places: number[]; final: boolean; exposed: boolean },
  r: Reveal,
  index: number | null,
  when: Asked,
  answer: string,
): Promise<void> {
  const places = [...want.places].sort((a, b) => a - b);
  await acted(
    l,
    s,
    "reveal",
    says(r, index),
    when,
    answer,
    (b) => b.shuffle === s.id && b.final === want.final && b.exposed === want.exposed && same(b.places, places),
  );
  if (
    !same(
      r.cards.map((c) => c.place),
      places,
    ) ||
    !same(r.places, places)
  )
    throw fault("the cards are not those of the places that were revealed", answer);
  await proveShown(l, s, r, openAll(s, r, answer), answer);
  for (const card of r.cards) {
    const had = s.cards.get(card.place);
    if (had) s.cards.set(card.place, { ...had, revealed: true });
  }
}

// proveClose compares a close with its request, its entry and the commitment.
export async function proveClose(
  l: Ledger,
  s: Committed,
  req: CloseRequest,
  c: Close,
  index: number | null,
  when: Asked,
  answer: string,
): Promise<void> {
  const [e, body] = await acted(
    l,
    s,
    "close",
    says(c, index),
    when,
    answer,
    (b) =>
      b.shuffle === s.id &&
      told("outcome", b.outcome) === req.outcome &&
      (b.outcome === VOID ? told("reason", b.reason) : undefined) === req.reason,
  );
  const tape = c.tape === undefined ? undefined : fromBase64(c.tape);
  if ((body.form === TAPE) !== (tape !== undefined) || tape === null || (tape && !equal(body.tape!, tape)))
    throw fault("the tape is not the one in the ledger", answer);
  const asked = (req.reveal?.length ?? 0) > 0;
  if (asked !== (c.reveal !== undefined)) throw fault("one of close and reveal is missing", answer);
  if (c.reveal)
    await proveReveal(l, s, { places: req.reveal!, final: true, exposed: false }, c.reveal, e.index - 1, when, answer);
  if (lost(body)) return; // as was asked for; such a close discloses nothing (SPEC 5.6)
  const what = await s.disclosed(body);
  if (what) throw fault(what, answer);
}

const lost = ({ outcome, reason }: Bodies["close"]) => outcome === VOID && reason === TAPE_LOST;

// inherit proves that the entry after a child's commit closes the parent as continued. The child
// keeps what is known of the parent's cards.
export async function inherit(l: Ledger, s: Committed, parent: Committed): Promise<void> {
  const when = await l.reading(),
    answer = await l.send({ method: "GET", path: `/entries/${s.id + 1}/receipt` });
  const { close } = (await l.prove(answer, s.id + 1, when, answer)).entry;
  if (close?.shuffle !== parent.id || close.outcome !== CONTINUED)
    throw fault("the parent was not closed with the child's commit", answer);
  s.inherit(parent);
}
