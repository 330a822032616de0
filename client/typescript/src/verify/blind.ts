// The extensions that tie shuffles of two ledgers together (SPEC-BLIND 4).
import { Malformed } from "./errors.ts";
import { ORIGIN, Reader } from "./reader.ts";
import type { Asked, Blind, Bytes, Follows, Foreign } from "./types.ts";

// foreign reads index and leaf hash of an entry of the other ledger, or size and root of a checkpoint of it.
export const foreign = (r: Reader): Foreign => ({ index: r.u64("index in the other ledger"), leaf: r.hash("hash in the other ledger") });

// whole reads the value of an extension. No bytes may be left over.
function whole<T>(bytes: Bytes, what: string, read: (r: Reader) => T): T {
  const r = new Reader(bytes), value = read(r);
  r.end(what);
  return value;
}

export const parseFollows = (bytes: Bytes): Follows => whole(bytes, "follows", (r) => ({ ...foreign(r), places: r.u16("places dealt") }));
export const parseForLedger = (bytes: Bytes): string => whole(bytes, "for_ledger", (r) => r.text("ledger that the order is for", ORIGIN));
export const parseAskKey = (bytes: Bytes): Bytes => whole(bytes, "ask_key", (r) => r.hash("ask key"));

export const parseAsked = (bytes: Bytes): Asked => whole(bytes, "asked", (r) => ({
  commit: foreign(r), after: r.hash("entry before"), head: foreign(r), state: r.hash("state"), ask: r.take(64, "ask"),
}));

export const parseBlind = (bytes: Bytes): Blind => whole(bytes, "blind", (r) => {
  const b: Blind = { deal: foreign(r), head: foreign(r), values: [] }, count = r.u16("values");
  if (count > 64) throw new Malformed(`values: ${count}, above 64`);
  if (b.deal.index === 0 && (count > 0 || b.deal.leaf.some((byte) => byte !== 0))) throw new Malformed("leaf hash in the other ledger: entry 0 stands for no deal, with zeros and without values");
  for (let i = 0; i < count; i++) b.values.push(r.u32("value"));
  return b;
});
