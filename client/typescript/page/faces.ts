// How cards, numbers and values are drawn, and said.
import { el } from "./dom.ts";
import type { ShownCard, Story } from "../src/verify/types.ts";

const RANKS: Record<string, string> = { A: "ace", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", T: "ten", J: "jack", Q: "queen", K: "king" };
const SUITS: Record<string, [pip: string, name: string]> = { s: ["♠", "spades"], h: ["♥", "hearts"], d: ["♦", "diamonds"], c: ["♣", "clubs"] };

export type Look = "drawn" | "french" | "ball" | "field" | "plain" | "long";

// lookOf says how to draw what a deck's names or a list's values are.
export function lookOf({ deck = [], ranges, of, taken }: Story): Look {
  if (of) return of < 10000 ? "ball" : "long";
  if (ranges) return "drawn";
  if (["As", "Th", "Jd", "Kc"].every((name) => deck.includes(name))) return "french";
  if (deck.every((name) => /^[0-9]{1,4}$/.test(name))) return "ball";
  return taken === 1 ? "field" : deck.some((name) => [...name].length > 3) ? "long" : "plain";
}

const PIPS = ["", "4", "26", "246", "0268", "02468", "023568"]; // of a die: which of nine places

// face draws one card, number or value, and says it.
export function face(card: ShownCard, look: Look, range = 0): { said: string; picture: HTMLElement } {
  const picture = (kind: string, ...parts: HTMLElement[]) => el("span", { class: `face ${kind}`, "aria-hidden": "true" }, ...parts);
  const rank = (text: string) => el("span", { class: "rank" }, text);
  if (look === "drawn") {
    const said = `${card.label === undefined ? "" : `${card.label}: `}${card.shows}, of 1 to ${range.toLocaleString("en")}`;
    if (card.label !== undefined) return { said, picture: picture("long", rank(card.label)) };
    if (range !== 6) return { said, picture: picture("drawn", rank(String(card.shows))) };
    return { said, picture: picture("die", ...Array.from({ length: 9 }, (_, i) => el("i", { class: PIPS[card.shows ?? 0]!.includes(String(i)) && "on" }))) };
  }
  if (card.shows !== undefined) return { said: String(card.shows), picture: picture(look, rank(String(card.shows))) };
  const name = card.card ?? "", [value = "", suit = ""] = name;
  if (look === "french" && name.length === 2 && Object.hasOwn(RANKS, value) && Object.hasOwn(SUITS, suit))
    return { said: `${RANKS[value]} of ${SUITS[suit]![1]}`, picture: picture(`suit-${suit}`, rank(value === "T" ? "10" : value), el("span", { class: "pip" }, `${SUITS[suit]![0]}\ufe0e`)) };
  return { said: name, picture: picture(look, rank(name)) };
}
