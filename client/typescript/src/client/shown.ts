// What the cards and values of an answer show.
import { equal, hex, join, str8, toBase64, u16, u32, utf8 } from "../verify/bytes.ts";
import { WHEEL, codeOf } from "../verify/codes.ts";
import { labelOf, readTerms, termsHash } from "../verify/terms.ts";
import type { Bytes, Label } from "../verify/types.ts";
import type { BoundTerms, Deal, KeptTerms, TermsDocument } from "./api.gen.ts";
import { openingOf, type Committed, type Opened } from "./committed.ts";
import { fault } from "./errors.ts";
import type { CallOptions, Ledger } from "./ledger.ts";
import { same } from "./wanted.ts";

// openAll checks the cards of an answer against the deck root, and the name of each.
export function openAll(s: Committed, { cards }: { cards: Deal["cards"] }, answer: string): Opened[] {
  return cards.map((card) => {
    const o = openingOf(card),
      what = o === null ? `the card at place ${card.place} has no salt or proof` : s.open(o);
    if (what || o === null) throw fault(what, answer);
    // A value beyond the deck has no name in it, and a card without a name is none.
    const name = s.isDraw ? undefined : s.deck?.[card.value];
    if (card.card !== name || (name === undefined && !s.isDraw))
      throw fault(`the card at place ${card.place} has another card's name`, answer);
    return o;
  });
}

// proveShown compares what values show with the mix, and their labels with the wheel that the
// commit names. It gives the labels, undefined without a wheel.
export async function proveShown(
  l: Ledger,
  s: Committed,
  a: { shows?: number[]; labels?: string[] },
  opened: Opened[],
  answer: string,
): Promise<string[] | undefined> {
  const shows = s.isDraw ? s.shows(opened) : [];
  if (shows === null || (s.isDraw ? !same(shows, a.shows ?? []) : a.shows !== undefined))
    throw fault("the values show other numbers", answer);
  const { terms } = s.context,
    wheel = terms?.kind === codeOf("terms", "wheel") && shows.length > 0 ? await wheelOf(l, terms.hash) : null;
  const labels = wheel ? shows.map((value) => labelOf(wheel, value) ?? "") : [];
  if (!same(labels, a.labels ?? [])) throw fault("the labels are not those of the wheel that was committed to", answer);
  return wheel ? labels : undefined;
}

const wheels = new WeakMap<Ledger, Map<string, Label[]>>();

// wheelOf gives the wheel with a hash. It asks the daemon for it once, and keeps it.
async function wheelOf(l: Ledger, hash: Uint8Array): Promise<Label[]> {
  const name = hex(hash),
    known = wheels.get(l) ?? new Map<string, Label[]>(),
    had = known.get(name);
  wheels.set(l, known);
  if (had) return had;
  const answer = await l.send({ method: "GET", path: `/terms/${name}` }),
    document = read<TermsDocument>(answer);
  if (document.kind !== "wheel" || !equal(documentHash(document), hash))
    throw fault("the document is another one than was asked for", answer);
  // The labels are read from the bytes that were hashed: JSON can say them in ways that write the same bytes.
  const labels = readTerms(WHEEL, writtenOf(document)).labels!;
  known.set(name, labels);
  return labels;
}

// putTerms lets the daemon keep a document, and gives what a commit names it by. The hash must be
// the one that this client computes.
export async function putTerms(l: Ledger, body: TermsDocument, o?: CallOptions): Promise<BoundTerms> {
  const answer = await l.send({ method: "PUT", path: "/terms", body, signal: o?.signal }),
    { kind, hash } = read<KeptTerms>(answer);
  if (kind !== body.kind || hash !== toBase64(documentHash(body)))
    throw fault("the terms that it kept are others than those that were put", answer);
  return { kind, hash };
}

const documentHash = (d: TermsDocument) => termsHash(codeOf("terms", d.kind), writtenOf(d));

const writtenOf = ({ kind, labels = [], text = "" }: TermsDocument): Bytes =>
  kind === "wheel"
    ? join(u16(labels.length), ...labels.map((x) => join(str8(x.label), u32(x.weight))))
    : utf8.encode(text);

// read parses the JSON of an answer. It does not refuse members that it does not know, which a later contract can
// have.
export function read<T>(answer: string): T {
  try {
    const a: unknown = JSON.parse(answer);
    if (typeof a === "object" && a !== null) return a as T;
  } catch {
    /* below */
  }
  throw fault("it is not what the contract says", answer);
}
