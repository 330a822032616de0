// The published decks (SPEC 3.2).
const LATIN = ["s", "h", "d", "c"],
  SPANISH = ["o", "b", "e", "c"];
const RANKS = [..."A23456789TJQK"];

const by = (suits: string[], ranks: string[]) => suits.flatMap((suit) => ranks.map((rank) => rank + suit));
const STANDARD = by(LATIN, RANKS);
const PINOCHLE = by(LATIN, [..."A9TJQK"]);

// namedDeck gives the cards of a published deck, undefined if this version has no deck of that
// name.
export function namedDeck(name: string): string[] | undefined {
  const shoe = /^shoe-([1-9]|1[0-6])$/.exec(name);
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
