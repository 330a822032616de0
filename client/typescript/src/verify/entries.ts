// Entries (section 5).
import { parseAsked, parseBlind, parseFollows } from "./blind.ts";
import { ASKED, BLIND, BLIND_CLOSE, CONTINUED, CO_DEALER, CUT, FOLLOWS, MAX_CARDS, MAX_ENTRY, NO_TAPE, RESERVED, SEALED, SLOT, TAPE, TAPE_LOST, VOID, nameOf } from "./codes.ts";
import { parseCommit } from "./commit.ts";
import { Malformed, Unknown } from "./errors.ts";
import { reason } from "./fields.ts";
import { parseAct, parseCredential, parseEvent, parseGenesis, parseKey } from "./genesis.ts";
import { NAME, NAME_OR_EMPTY, Reader } from "./reader.ts";
import type { Bytes, Close, Deal, Disclosure, Entry, Mix, Reveal, Takeover, Tape } from "./types.ts";

// parseEntry gives an entry with its body under the name of its type. The body of a credential is
// credential_entry, because the header has a member credential. The body of a type that was passed
// over is opaque. passed lists the codes that were passed over in the entry (1.4).
export function parseEntry(bytes: Bytes): Entry {
  if (bytes.length > MAX_ENTRY) throw new Malformed("entry: above 48,000 bytes");
  const r = new Reader(bytes);
  const version = r.u8("version");
  if (version !== 1) throw new Unknown(`entry version ${version}`);
  const code = r.code("entry", "entry type"), type = nameOf("entry", code) ?? "opaque";
  const entry = { type, time: r.u64("time"), identity: r.text("identity", NAME), credential: r.text("credential", NAME) } as Entry;
  for (const word of RESERVED)
    if ((entry.identity === word) !== (entry.credential === word)) throw new Malformed(`credential: ${word} in one field alone`);
  const body = type === "opaque" ? { type: code, body: r.rest("body") } : BODIES[type]!(r);
  Object.assign(entry, { [type === "credential" ? "credential_entry" : type]: body });
  r.end(type);
  Object.defineProperty(entry, "passed", { value: r.passed });
  return entry;
}

function parseMix(r: Reader): Mix {
  const m: Mix = { shuffle: r.u64("shuffle"), checkpoint: r.u64("checkpoint"), values: [] };
  const count = r.u8("mix values");
  if (count < 1 || count > 32) throw new Malformed(`mix values: ${count}`);
  for (let i = 0; i < count; i++) {
    const source = r.code("source", "mix source");
    if (source === CO_DEALER) throw new Malformed("mix source: a co-dealer has no value");
    if (source === CUT) m.values.push({ source, cut: r.u16("cut") });
    else m.values.push({ source, value: r.take(source === SLOT ? 32 : 48, "mix value") });
  }
  return m;
}

function parseDeal(r: Reader): Deal {
  const d: Omit<Deal, "extensions"> = {
    shuffle: r.u64("shuffle"),
    first_place: r.u16("first place"),
    checkpoint: r.u64("checkpoint"),
    final: r.flag("final"),
    runs: [],
  };
  const count = r.u16("runs");
  if (count < 1 || count > 512) throw new Malformed(`runs: ${count}`);
  let end = d.first_place;
  for (let i = 0; i < count; i++) {
    const cards = r.u16("run count");
    if (cards < 1) throw new Malformed("run count: 0");
    end += cards;
    if (end > MAX_CARDS) throw new Malformed("runs: past place 4,095");
    d.runs.push({ cards, purpose: r.code("purpose"), recipient: r.text("recipient", NAME_OR_EMPTY), public: r.flag("public"), round: r.u16("round") });
  }
  const more: Pick<Deal, "asked" | "blind"> = {}, extensions = r.extensions("deal_extension", {
    [ASKED]: (value) => { more.asked = parseAsked(value); }, [BLIND]: (value) => { more.blind = parseBlind(value); } });
  return { ...d, ...more, extensions };
}

function parseClose(r: Reader): Close {
  const shuffle = r.u64("shuffle"), entries = r.u16("entries"), outcome = r.code("outcome"), why = outcome === VOID ? r.code("reason") : r.u8("reason");
  if (outcome !== VOID && why !== 0) throw new Malformed("reason: with void and only then");
  const tape = parseTape(r, entries);
  if ((tape.form === NO_TAPE) !== (why === TAPE_LOST || outcome === CONTINUED)) throw new Malformed("form: nothing with continued and tape_lost, and only then");
  const more: Pick<Close, "blind" | "follows"> = {}, extensions = r.extensions("close_extension", {
    [BLIND_CLOSE]: (value) => { more.blind = parseBlind(value); }, [FOLLOWS]: (value) => { more.follows = parseFollows(value); } });
  return { shuffle, outcome, reason: why, ...tape, ...more, extensions };
}

function parseTape(r: Reader, entries: number): Tape {
  const form = r.code("form");
  if (form === TAPE) return { entries, form, tape: r.blob("tape", 1, 32768) };
  if (form !== SEALED) return { entries, form };
  return { entries, form, disclosure_key: r.u64("disclosure key"), tape: r.blob("sealed tape", 1, 33937) }; // encapsulated key ‖ ciphertext
}

function parseDisclosure(r: Reader): Disclosure {
  return { shuffle: r.u64("shuffle"), ...parseTape(r, r.u16("entries")), extensions: r.extensions("disclosure_extension") };
}

function parseReveal(r: Reader): Reveal {
  const shuffle = r.u64("shuffle"), final = r.flag("final"), exposed = r.flag("exposed"), places: number[] = [];
  const count = r.u16("places");
  if (count < 1 || count > MAX_CARDS) throw new Malformed(`places: ${count}`);
  for (let i = 0; i < count; i++) {
    const place = r.u16("place");
    if (place >= MAX_CARDS) throw new Malformed("place: past the last place there can be");
    if (i > 0 && places[i - 1]! >= place) throw new Malformed("places: they do not ascend");
    places.push(place);
  }
  return { shuffle, final, exposed, places, extensions: r.extensions("reveal_extension") };
}

function parseTakeover(r: Reader): Takeover {
  return { shuffle: r.u64("shuffle"), extent: r.code("extent"), ...reason(r) };
}

// BODIES has a function that reads a body, by the name of the type.
const BODIES: Record<string, (r: Reader) => unknown> = { genesis: parseGenesis, commit: parseCommit, mix: parseMix, deal: parseDeal, close: parseClose,
  key: parseKey, event: parseEvent, takeover: parseTakeover, credential: parseCredential, act: parseAct,
  reveal: parseReveal, disclosure: parseDisclosure };
