// The commit (5.3) and its context (5.2).
import { ascii } from "./bytes.ts";
import { foreign, parseAskKey, parseForLedger } from "./blind.ts";
import { ASK_KEY, BEACON, CARDS, CO_DEALER, CUT, DRAWS, FOR_LEDGER, MAX_CARDS, SLOT, TERMS, TICKET_LIST } from "./codes.ts";
import { Malformed, Unknown } from "./errors.ts";
import { leafTag } from "./openings.ts";
import { NAME, NAME_OR_EMPTY, ORIGIN, Reader } from "./reader.ts";
import type { Bytes, Commit, Context, EndAt, Parent, Passed, Source, Terms } from "./types.ts";

export function parseCommit(r: Reader): Commit {
  const contextBytes = r.blob("context", 0, 65535);
  const c = {
    context: parseContext(contextBytes, r.passed),
    commitment: r.hash("commitment"),
    deck_root: r.hash("deck root"),
    serial: r.u64("serial"),
    previous: r.u64("previous"),
    close_by: r.u64("close-by"),
    game_reference: r.text("game reference", NAME_OR_EMPTY),
    key_tag: r.hash("key tag"),
    request_hash: r.hash("request hash"),
    instance: r.u64("instance"),
  } as Commit;
  if (c.serial < 1) throw new Malformed("serial: 0");
  if ((c.serial === 1) !== (c.previous === 0)) throw new Malformed("previous: 0 for serial 1 and only then");
  c.extensions = r.extensions("commit_extension", { [ASK_KEY]: (value) => { c.ask_key = parseAskKey(value); } });
  Object.defineProperty(c, "contextBytes", { value: contextBytes });
  Object.defineProperty(c, "tag", { value: leafTag(c.commitment, contextBytes) });
  return c;
}

export function parseContext(bytes: Bytes, passed?: Passed[]): Context {
  const r = new Reader(bytes, passed);
  const c = {
    origin: r.text("origin", ORIGIN),
    genesis: r.hash("genesis hash"),
    production: r.flag("production"),
    table: r.text("table", NAME),
    algorithm: r.among(1, "algorithm"),
    kind: r.among(3, "kind"),
  } as Context;
  if (c.kind === CARDS) {
    c.deck_hash = r.hash("deck hash");
    c.n = r.u16("cards");
    if (c.n < 2 || c.n > MAX_CARDS) throw new Malformed(`recipe: ${c.n} cards`);
    c.m = r.u16("cards taken");
    if (c.m < 1 || c.m > c.n) throw new Malformed(`recipe: ${c.m} of ${c.n} cards`);
  } else if (c.kind === DRAWS) {
    c.ranges = parseRanges(r);
  } else {
    c.of = r.u32("numbers");
    c.m = r.u16("numbers taken");
    if (c.of < 2 || c.of > 2 ** 30 || c.m < 1 || c.m > Math.min(c.of, MAX_CARDS)) throw new Malformed(`recipe: ${c.m} of ${c.of} numbers`);
  }
  c.parent = parseParent(r, c);
  c.plan = parsePlan(r, c);
  c.end_at = parseEndAt(r, c);
  c.disclosure = r.code("disclosure");
  c.terms = null;
  c.extensions = r.extensions("context_extension", { [TERMS]: (value) => { c.terms = parseTerms(value); },
    [FOR_LEDGER]: (value) => { c.for_ledger = parseForLedger(value); } });
  r.end("context");
  return c;
}

// parseTerms reads the extension that names the terms, which say what the values mean.
function parseTerms(bytes: Bytes): Terms {
  const r = new Reader(bytes), t = { kind: r.code("terms") } as Terms;
  if (t.kind === TICKET_LIST) t.count = r.u64("tickets");
  t.hash = r.hash("hash of the terms");
  r.end("terms");
  return t;
}

function parseRanges(r: Reader): number[] {
  const count = r.u16("ranges");
  if (count < 1 || count > MAX_CARDS) throw new Malformed(`recipe: ${count} ranges`);
  const ranges: number[] = [];
  for (let i = 0; i < count; i++) {
    const k = r.u32("range");
    if (k < 1 || k > 2 ** 30) throw new Malformed(`recipe: a draw 1..${k}`);
    ranges.push(k);
  }
  return ranges;
}

function parseParent(r: Reader, c: Context): Parent | null {
  if (!r.flag("parent")) return null;
  if (c.kind !== CARDS) throw new Malformed("parent: draws have none");
  const parent: Parent = { id: r.u64("parent"), positions: [] };
  const count = r.u16("parent positions");
  if (count !== c.n) throw new Malformed("parent positions: not one for each card");
  for (let i = 0; i < count; i++) parent.positions.push(r.u16("parent position"));
  if (new Set(parent.positions).size !== count) throw new Malformed("parent positions: one twice");
  return parent;
}

// A plan has at most one co-dealer, then slots, then at most one beacon, then at most one cut (4).
function parsePlan(r: Reader, c: Context): Source[] {
  const count = r.u8("mix plan");
  if (count > 32) throw new Malformed("mix plan: more than 32 sources");
  const plan: Source[] = [];
  const slots = new Set<string>();
  const order = [CO_DEALER, SLOT, BEACON, CUT];
  let last = -1;
  for (let i = 0; i < count; i++) {
    const source = r.code("source", "mix source"), at = order.indexOf(source);
    const s: Source = { source };
    if (at < last || (at === last && source !== SLOT)) throw new Malformed("mix plan: out of order");
    last = at;
    if (source === SLOT) {
      s.slot_hash = r.hash("slot hash");
      if (slots.has(ascii(s.slot_hash))) throw new Malformed("mix plan: a slot twice");
      slots.add(ascii(s.slot_hash));
    } else if (source === BEACON) {
      s.chain_hash = r.hash("beacon chain");
      s.round = r.u64("beacon round");
      if (s.round < 1) throw new Malformed("beacon round: 0");
    } else if (source === CO_DEALER) {
      r.among(1, "co-dealers");
      s.origin = r.text("co-dealer's origin", ORIGIN);
      s.commit = foreign(r);
    } else if (c.kind !== CARDS) {
      throw new Malformed("mix plan: a cut of draws");
    }
    plan.push(s);
  }
  return plan;
}

function parseEndAt(r: Reader, c: Context): EndAt {
  const form = r.u8("end_at form");
  if (form > 2) throw new Unknown(`end_at form ${form}`);
  if (form === 0) return { form };
  if (c.kind !== CARDS) throw new Malformed("end_at: draws have none");
  if (form === 1) {
    const place = r.u16("end_at");
    if (place < 1 || place > c.m) throw new Malformed(`end_at: place ${place}`);
    return { form, place };
  }
  const lo = r.u16("end_at"), hi = r.u16("end_at");
  if (!(lo >= 1 && lo < hi && hi <= c.m)) throw new Malformed(`end_at: ${lo}..${hi}`);
  return { form, lo, hi };
}
