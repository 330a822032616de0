// The steps deck, terms and openings (10.1).
import { coDealer, mustOpenBy } from "./blindsteps.ts";
import { equal, toBase64 } from "./bytes.ts";
import { CARDS, CUT, NO_TAPE, NUMBERS, TICKET_LIST, WHEEL, codeOf, told } from "./codes.ts";
import { likeness } from "./decks.ts";
import { numbers, positions, ranges } from "./draws.ts";
import { Fault } from "./errors.ts";
import { isPublic } from "./legality.ts";
import { mixSeed, mixValue, mixedPlaces, shifts } from "./mix.ts";
import { opens } from "./openings.ts";
import { many, skip, type Outcome } from "./step.ts";
import type { Made } from "./tree.ts";
import { badCardName, deckHash, readTerms, termsHash } from "./terms.ts";
import type { Card, Run, Whole } from "./types.ts";

export function stepDeck(s: Whole): Outcome {
  const { deck } = s.file, c = s.context;
  if (c.kind !== CARDS) {
    if (deck) throw new Fault("draws have no deck, and the file has one");
    s.shuffled = c.kind === NUMBERS ? { kind: "numbers", of: c.of! } : { kind: "draws", ranges: c.ranges };
    if (s.trust.deck) throw new Fault(`${s.shuffled.kind}, and no cards of ${s.trust.deck.name}`);
    return `${s.shuffled.kind}, without a deck`;
  }
  if (!deck) throw new Fault("the deck is missing");
  const bad = deck.findIndex(badCardName);
  if (bad >= 0) throw new Fault(`card ${bad} has a name that no deck may have`);
  if (deck.length < 2 || (!c.parent && deck.length !== c.n)) throw new Fault(`${many(deck.length, "card")}, and the commit says ${c.n}`);
  if (!equal(deckHash(deck), c.deck_hash!)) throw new Fault("the deck's hash is not the one in the commit");
  s.shuffled = { kind: "cards", cards: c.n, ...likeness(deck), ...(c.parent && { parent: c.parent.id }) };
  const want = s.trust.deck;
  if (want && (c.parent || !equal(deckHash(want.cards), c.deck_hash!))) throw new Fault(`not the whole of ${want.name}`);
  return `${many(c.n, "card")} of ${s.shuffled.deck ?? "no published deck"}`;
}

// stepTerms compares the terms in the file with their hash in the commit, and the total of a wheel
// with the ranges of the draws.
export function stepTerms(s: Whole): Outcome {
  const { terms } = s.context, written = s.file.terms;
  if (terms) s.terms = { kind: told("terms", terms.kind), hash: toBase64(terms.hash), ...(terms.count !== undefined && { count: terms.count }) };
  if (!terms || terms.kind === TICKET_LIST) {
    if (written) throw new Fault("the file holds terms, and the commit binds none");
    return skip(terms ? `a list of ${many(terms.count!, "ticket")}, which this file does not hold` : "the commit binds none: it does not say what its values mean");
  }
  if (!written) return skip("the terms are not in the file: what the values mean is not known");
  if (!equal(termsHash(terms.kind, written), terms.hash)) throw new Fault("the hash of the terms is not the one in the commit");
  const read = readTerms(terms.kind, written);
  if (terms.kind === WHEEL && read.total !== s.context.ranges[0])
    throw new Fault(`the weights add up to ${read.total}, and the draws are from 1 to ${s.context.ranges[0]}`);
  Object.assign(s.terms!, read.labels ? { labels: read.labels } : { text: read.text });
  return read.labels ? `a wheel of ${many(read.labels.length, "label")}, whose weights add up to ${read.total}` : `a pay table of ${many(written.length, "byte")}`;
}

// dealt gives the run of each dealt place, up to the first gap between deals.
export function dealt(s: Whole): Run[] {
  const places: Run[] = [];
  for (const { entry: { deal } } of s.deals) {
    if (deal.first_place !== places.length) break;
    for (const run of deal.runs) for (let i = 0; i < run.cards; i++) places.push(run);
  }
  return places;
}

// aside tells whether a run is a burn or discard that is not public. Unless a reveal names them,
// its places are aside: nobody sees them before the tape is disclosed (8).
const aside = (run: Run) => !run.public && (run.purpose === codeOf("purpose", "burn") || run.purpose === codeOf("purpose", "discard"));

export async function stepOpenings(s: Whole): Promise<Outcome> {
  const c = s.context, above: Made[] = [];
  const runs = dealt(s);
  await findPlaces(s);
  const seen = new Set<number>();
  let last = -1;
  for (const card of s.file.cards) {
    const must = (holds: boolean, what: string) => { if (!holds) throw new Fault(`place ${card.place}: ${what}`); };
    must(card.place > last, "the places do not ascend");
    must(c.kind !== NUMBERS || card.place === last + 1, `which number it shows hangs on place ${last + 1}, which is not shown`);
    last = card.place;
    must(card.place < runs.length, "it was not dealt");
    must(card.position === s.positionAt(card.place), `it shows position ${s.positionAt(card.place)}, not ${card.position}`);
    const run = runs[card.place]!;
    must(!aside(run) || isPublic(s, runs, card.place) || s.disclosed !== null && s.disclosed.form !== NO_TAPE, `it is a ${told("purpose", run.purpose)} that nobody is to see before the tape is disclosed`);
    must(s.file.recipient === undefined || isPublic(s, runs, card.place) || run.recipient === s.file.recipient, `it is not ${s.file.recipient}'s to see`);
    must(c.kind !== CARDS || !seen.has(card.value), "this card is shown twice");
    seen.add(card.value);
    mustOpen(s, card, must, above);
  }
  const shown = runs.flatMap((run, place) => isPublic(s, runs, place) ? [place] : []), open = new Set(s.file.cards.map((card) => card.place));
  const missing = shown.find((place) => !open.has(place));
  if (s.disclosed && s.disclosed.form !== NO_TAPE && missing !== undefined) throw new Fault(`place ${missing}: it is public, and the file does not open it`);
  return `shown: ${shown.length} of ${runs.length} dealt; ${open.size} opened here, and open the deck root`;
}

// mustOpen compares a card with its range or the deck, with the co-dealer's value, and with the deck root.
export function mustOpen(s: Whole, card: Card, must: (holds: boolean, what: string) => void, above?: Made[]): void {
  const c = s.context, { deck_root: root, tag } = s.commit.entry.commit;
  if (c.kind !== CARDS) {
    must(card.value >= 1 && card.value <= ranges(c)[card.position]!, "its value is not in its range");
    must(card.card === undefined, "a draw has no card");
  } else {
    must(card.value < s.file.deck!.length, "its value is no card of the deck");
    must(card.card === s.file.deck![card.value], `card ${card.value} is "${s.file.deck![card.value]}", not "${card.card}"`);
  }
  mustOpenBy(s, card, must);
  must(opens(tag, root, positions(c), card, above), "it does not open the committed deck root");
}

// findPlaces sets positionAt, the position that a place shows, and shown, what a card shows (4.3, 2.5).
async function findPlaces(s: Whole): Promise<void> {
  s.positionAt = (place) => place;
  s.shown = (card) => card.value;
  if (s.mix) await movePlaces(s);
  if (coDealer(s.context)) passThrough(s);
  if (s.context.kind !== NUMBERS) return;
  // stepOpenings refuses cards of numbers whose places leave a gap, so an index here is a place.
  const drawn = s.shown, taken = numbers(s.file.cards.map(drawn));
  s.shown = (card) => taken[card.place] ?? numbers([...s.file.cards, ...s.file.co_dealer!.unplayed].map(drawn))[card.place]!;
}

// passThrough leads the places through the co-dealer's values (SPEC-BLIND 1). A place of cards for which
// there is no value shows position -1.
function passThrough(s: Whole): void {
  const { positionAt, shown } = s, ks = ranges(s.context);
  if (s.context.kind === CARDS) s.positionAt = (place) => s.given.has(place) ? positionAt(s.given.get(place)!) : -1;
  else s.shown = (card) => 1 + (shown(card) - 1 + (s.given.get(card.place) ?? 1) - 1) % ks[card.place]!;
}

async function movePlaces(s: Whole): Promise<void> {
  const { values } = s.mix!.entry.mix;
  const seed = mixSeed(s.commit.bytes, values);
  if (s.context.kind !== CARDS) {
    const ks = ranges(s.context), shift = await shifts(seed, ks);
    s.shown = (card) => 1 + (card.value - 1 + shift[card.position]!) % ks[card.position]!;
  } else {
    const cut = mixValue(values, CUT)?.cut ?? 0;
    const order = await mixedPlaces(seed, s.context.m, cut);
    s.positionAt = (place) => order[place]!;
  }
}
