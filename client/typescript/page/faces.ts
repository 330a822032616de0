// The pictures of cards, numbers and values, and their words for readers who do not see them.
import { el } from "./dom.ts";
import { iso, num, of as found, t } from "./words.ts";
import type { ShownCard, Story } from "../src/verify/types.ts";

const PIPS: Record<string, string> = { s: "♠", h: "♥", d: "♦", c: "♣" };

export type Look = "drawn" | "french" | "ball" | "field" | "plain" | "long";

// lookOf chooses how the cards of a deck, or the values of a list, are drawn.
export function lookOf({ deck = [], ranges, of, taken }: Story): Look {
  if (of) return of < 10000 ? "ball" : "long";
  if (ranges) return "drawn";
  if (["As", "Th", "Jd", "Kc"].every((name) => deck.includes(name))) return "french";
  if (deck.every((name) => /^[0-9]{1,4}$/.test(name))) return "ball";
  return taken === 1 ? "field" : deck.some((name) => [...name].length > 3) ? "long" : "plain";
}

const DOTS = ["", "4", "26", "246", "0268", "02468", "023568"]; // by value of a die: which of nine places have a dot

// face gives the picture of one card, number or value, and its words.
export function face(card: ShownCard, look: Look, range = 0): { said: string; picture: HTMLElement } {
  const picture = (kind: string, ...parts: HTMLElement[]) => el("span", { class: `face ${kind}`, "aria-hidden": "true" }, ...parts);
  const rank = (text: string) => el("span", { class: "rank" }, text);
  if (look === "drawn") {
    const said = `${card.label === undefined ? "" : `${iso(card.label)}: `}${t.drawnOf(String(card.shows), num(range))}`;
    if (card.label !== undefined) return { said, picture: picture("long", rank(card.label)) };
    if (range !== 6) return { said, picture: picture(`drawn${range > 9999 ? " wide" : ""}`, rank(String(card.shows))) };
    return { said, picture: picture("die", ...Array.from({ length: 9 }, (_, i) => el("i", { class: DOTS[card.shows ?? 0]!.includes(String(i)) && "on" }))) };
  }
  if (card.shows !== undefined) return { said: String(card.shows), picture: picture(look, rank(String(card.shows))) };
  const name = card.card ?? "", [value = "", suit = ""] = name, rankName = found(t.ranks, value), suitName = found(t.suits, suit);
  if (look === "french" && name.length === 2 && rankName && suitName)
    return { said: t.cardName(rankName, suitName), picture: picture(`suit-${suit}`, rank(value === "T" ? "10" : value), el("span", { class: "pip" }, `${PIPS[suit]}\ufe0e`)) };
  return { said: iso(name), picture: picture(look, rank(name)) };
}
