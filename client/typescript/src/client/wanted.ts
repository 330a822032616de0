// Comparison of a commit with the request for it.
import { isQuicknet } from "../verify/beacon.ts";
import { equal, fromBase64, join, label, str8 } from "../verify/bytes.ts";
import { CARDS, CUT, DRAWS, NUMBERS, SLOT, codeOf } from "../verify/codes.ts";
import { sha256 } from "../verify/sha256.ts";
import { deckHash } from "../verify/terms.ts";
import type { Bytes, Context } from "../verify/types.ts";
import type { DrawsRequest, ShuffleRequest } from "./api.gen.ts";
import type { Committed } from "./committed.ts";
import { namedDeck } from "../verify/decks.ts";
import { keyTime } from "./key.ts";

// keyTag gives the tag of an idempotency key in a commit (SPEC 5.3).
export function keyTag(origin: string, identity: string, table: string, key: string): Bytes {
  const time = new Uint8Array(6),
    at = keyTime(key) ?? 0;
  for (let i = 0; i < 6; i++) time[i] = Math.floor(at / 256 ** (5 - i)) % 256;
  return join(time, sha256(label("key-tag"), str8(origin), str8(identity), str8(table), str8(key)).subarray(0, 26));
}

// deckOf gives the names of the cards that a request asks for, undefined if it names no deck that is known.
export function deckOf(req: ShuffleRequest | DrawsRequest): string[] | undefined {
  if ("wheel" in req && req.wheel)
    return req.wheel.flatMap((stop) => Array.from({ length: stop.weight }, () => stop.label));
  if ("cards" in req && req.cards) return req.cards;
  return "deck" in req && req.deck !== undefined ? namedDeck(req.deck) : undefined;
}

// differs gives what differs between the commit and the request, or "". parent is the shuffle that a child continues.
export function differs(
  s: Committed,
  key: string,
  req: ShuffleRequest | DrawsRequest,
  parent: Committed | undefined,
): string {
  const c = s.context;
  if (c.table !== req.table) return "it is at another table";
  if (!equal(s.commit.key_tag, keyTag(c.origin, s.owner, req.table, key))) return "it is under another idempotency key";
  if (!samePlan(c, req)) return "its mix plan is another one";
  if ((c.for_ledger ?? "") !== (req.for_ledger ?? "")) return "it is an order for another ledger";
  const disclosed = req.disclosure ? codeOf("disclosure", req.disclosure) : parent?.context.disclosure;
  if (disclosed !== undefined && c.disclosure !== disclosed) return "it is disclosed to others";
  if (req.close_by !== undefined && s.commit.close_by !== Date.parse(req.close_by))
    return "it is to be closed at another time";
  if (s.gameRef !== (req.game_ref ?? "")) return "it is of another game";
  if (!sameParent(s, req, parent)) return "it is of another parent, or of other cards of it";
  if (!sameRecipe(c, req, parent))
    return "it is of another deck, or of other ranges or numbers, or takes another number of cards";
  if (!sameTerms(c, req, parent)) return "it has other terms: its values mean something else";
  if (!sameEnd(c, req)) return "its cut card is elsewhere";
  return "";
}

function samePlan({ plan }: Context, { mix }: ShuffleRequest | DrawsRequest): boolean {
  const want: ((p: Context["plan"][number]) => boolean)[] = (mix?.slots ?? []).map((h) => (p) => {
    const slot = fromBase64(h);
    return p.source === SLOT && slot !== null && equal(p.slot_hash!, slot);
  });
  const round = mix?.beacon?.round;
  if (mix?.beacon)
    want.push((p) => isQuicknet(p) && (round === undefined || p.round === round));
  if (mix?.cut) want.push((p) => p.source === CUT);
  if (mix?.co_dealer) want.push(() => false); // this client proves no co-dealer
  return plan.length === want.length && plan.every((p, i) => want[i]!(p));
}

function sameParent(s: Committed, req: ShuffleRequest | DrawsRequest, parent: Committed | undefined): boolean {
  const got = s.context.parent;
  if (!got || !parent) return !got && !parent;
  const want = ("parent" in req ? req.parent?.positions : undefined) ?? undealt(parent, got.positions.length);
  return got.id === parent.id && got.id < s.id && want !== null && same(got.positions, want);
}

// undealt gives the positions of the last n places, ascending, null if they are not those that were not dealt. n comes
// from the commit. If another client dealt since, its deals were learned before.
function undealt(parent: Committed, n: number): number[] | null {
  const first = parent.places - n;
  return first !== parent.next() || !parent.order ? null : parent.order.slice(first).sort((a, b) => a - b);
}

function sameRecipe(c: Context, req: ShuffleRequest | DrawsRequest, parent: Committed | undefined): boolean {
  if ("numbers" in req && req.numbers) return c.kind === NUMBERS && c.of === req.numbers.of && c.m === req.numbers.take;
  if ("ranges" in req && req.ranges) return c.kind === DRAWS && same(c.ranges, req.ranges);
  if (c.kind !== CARDS) return false;
  const deck = deckOf(req),
    known = parent?.context.deck_hash ?? (deck && deckHash(deck));
  const take = "wheel" in req && req.wheel ? 1 : ("take" in req && req.take) || c.n;
  const cards = parent ? c.parent!.positions.length : deck?.length;
  return known !== undefined && equal(c.deck_hash!, known) && c.n === cards && c.m === take;
}

function sameTerms({ terms }: Context, req: ShuffleRequest | DrawsRequest, parent: Committed | undefined): boolean {
  const asked = req.terms && {
    kind: codeOf("terms", req.terms.kind),
    count: req.terms.count,
    hash: fromBase64(req.terms.hash),
  };
  const want = parent ? parent.context.terms : asked;
  if (!terms || !want) return !terms && !want;
  return want.hash !== null && terms.kind === want.kind && terms.count === want.count && equal(terms.hash, want.hash);
}

function sameEnd({ end_at: got }: Context, req: ShuffleRequest | DrawsRequest): boolean {
  const want = "end_at" in req ? req.end_at : undefined;
  if (want === undefined) return got.form === 0;
  if (typeof want === "number") return got.form === 1 && got.place === want;
  return want.lo === want.hi
    ? got.form === 1 && got.place === want.lo
    : got.form === 2 && got.lo === want.lo && got.hi === want.hi;
}

export const same = (a: readonly unknown[], b: readonly unknown[]) =>
  a.length === b.length && a.every((x, i) => x === b[i]);
