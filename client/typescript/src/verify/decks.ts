// The published decks (3.2), and which of them a deck is like (10.4).
import type { Likeness } from "./types.ts";

const LATIN = ["s", "h", "d", "c"],
  SPANISH = ["o", "b", "e", "c"];
const RANKS = [..."A23456789TJQK"];

const by = (suits: string[], ranks: string[]) => suits.flatMap((suit) => ranks.map((rank) => rank + suit));
const STANDARD = by(LATIN, RANKS);
const PINOCHLE = by(LATIN, [..."A9TJQK"]);

// namedDeck gives the cards of a published deck, undefined for any other name.
export function namedDeck(name: string): string[] | undefined {
  const shoe = /^shoe-([1-9]|1[0-6])$/.exec(name), positions = Number(/^positions-([1-9][0-9]{0,3})$/.exec(name)?.[1]);
  if (positions >= 2 && positions <= 4096) return Array.from({ length: positions }, (_, i) => String(i));
  if (shoe) return Array.from({ length: Number(shoe[1]) }, () => STANDARD).flat();
  switch (name) {
    case "standard-52":
      return STANDARD;
    case "standard-54":
      return [...STANDARD, "Jr", "Jb"];
    case "short-36":
      return by(LATIN, [..."A6789TJQK"]);
    case "pinochle-48":
      return [...PINOCHLE, ...PINOCHLE];
    case "spanish-40":
      return by(SPANISH, [..."1234567SCR"]);
    default:
      return undefined;
  }
}

const NAMES = ["standard-52", "standard-54", "short-36", "pinochle-48", "spanish-40", ...Array.from({ length: 16 }, (_, i) => `shoe-${i + 1}`)];

// likeness compares a deck with the published ones. A deck that differs in more than half of its cards is like none.
export function likeness(deck: string[]): Likeness {
  const names = [...NAMES, `positions-${deck.length}`];
  const own = names.find((name) => JSON.stringify(namedDeck(name)) === JSON.stringify(deck));
  if (own) return { deck: own };
  let found: Likeness = {}, least = Math.floor(deck.length / 2) + 1;
  for (const name of names) {
    const differs = differences(deck, namedDeck(name)!), n = Object.values(differs).reduce((sum, count) => sum + Math.abs(count), 0);
    if (n < least) [found, least] = [{ like: name, differs: n > 0 ? differs : undefined }, n];
  }
  return found;
}

// differences gives how many more of each card there are than in a published deck.
function differences(deck: string[], published: string[]): Record<string, number> {
  const more = new Map<string, number>(), add = (names: string[], n: number) => names.forEach((card) => more.set(card, (more.get(card) ?? 0) + n));
  add(deck, 1);
  add(published, -1);
  return Object.fromEntries([...more].filter(([, count]) => count !== 0)); // fromEntries, because a name can be __proto__
}
