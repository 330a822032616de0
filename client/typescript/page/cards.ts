// The cards, and what the page says of how they came.
import { el } from "./dom.ts";
import { face, lookOf, type Look } from "./faces.ts";
import { listed } from "./words.ts";
import type { ShownCard, Story, Verdict } from "../src/verify/types.ts";

// movedFrom says what the mix did to one card or value. Of numbers, what was locked in is draws.
const movedFrom = (card: ShownCard, { of }: Story) => of ? null : card.shows !== undefined
  ? card.shows !== card.value && `locked in as ${card.value}`
  : card.position !== card.place && `from ${card.position}`;

function cardItem(card: ShownCard, look: Look, story: Story): HTMLElement {
  const { said, picture } = face(card, look, story.ranges?.[card.position]);
  const who = card.recipient ?? (card.purpose === "order" ? "back end" : card.purpose), from = story.mixed && movedFrom(card, story);
  const note = [card.recipient && card.purpose, card.public && "public", card.revealed && "revealed"].filter(Boolean).join(", ");
  return el("li", {}, picture,
    el("span", { class: "unseen" }, `${said}, place ${card.place}`),
    el("span", { class: "who" }, who),
    el("span", { class: "note" }, el("span", { "aria-hidden": "true" }, `#${card.place} `), note),
    from && el("span", { class: "note" }, from));
}

const MOST_CARDS = 1000;
const TITLES: Record<Look, string> = { drawn: "The values drawn", french: "The cards shown", ball: "The numbers drawn", field: "The result", plain: "The cards shown", long: "The cards shown" };

export function cardSection(v: Verdict, story: Story | null): HTMLElement | null {
  if (v.level === undefined || v.kind !== "transcript" || story === null) return null;
  const look = lookOf(story), told = [...moved(v, story), ...fields(v, look, story), ...cutCard(v, story), ...handedOver(story)];
  if (v.cards === undefined) return el("section", {}, el("h3", {}, story.of ? TITLES.ball : TITLES[look]), el("p", {}, "None."), ...told);
  const items: HTMLElement[] = [], shown = v.cards.slice(0, MOST_CARDS), cut = story.cutCard?.place;
  for (const [i, card] of shown.entries()) {
    if (cut !== undefined && card.place >= cut && !(i > 0 && shown[i - 1]!.place >= cut)) items.push(el("li", { class: "cut" }, "cut card"));
    items.push(cardItem(card, look, story));
  }
  return el("section", {}, el("h3", {}, story.of ? TITLES.ball : TITLES[look]),
    v.places! > 1 && el("p", {}, `Shown to everybody: ${v.shown ?? 0} of ${v.next} dealt. ${v.cards.length} are opened here; ${v.places} were locked in before the deal. # counts the places dealt, from 0.`), ...told,
    el("ol", { role: "list", class: "cards" }, ...items),
    v.cards.length > MOST_CARDS ? el("p", {}, `… and ${v.cards.length - MOST_CARDS} more, in the JSON below.`) : null);
}

export const named = (name: string, value: string) => el("dl", { class: "pairs" }, el("dt", {}, name), el("dd", {}, value));

// sources names what goes into the mix alongside the house's own random bytes.
function sources({ plan }: Story): string {
  const slots = plan.filter((p) => p.source === "slot"), mine = slots.filter((p) => p.mine).length, words: string[] = [];
  const whose = mine === 0 ? "" : mine === slots.length ? ", yours" : ", yours among them";
  if (slots.length > 0) words.push((slots.length === 1 ? "a player’s secret value" : `${slots.length} players’ secret values`) + whose);
  for (const p of plan) {
    if (p.source === "beacon") words.push(`round ${p.round} of a public beacon`);
    if (p.source === "cut") words.push(p.cut === undefined ? "a cut" : `a cut of ${p.cut} ${p.cut === 1 ? "card" : "cards"}`);
  }
  return listed(words);
}

function moved(v: Verdict, story: Story): HTMLElement[] {
  if (story.plan.length === 0) return [];
  if (!story.mixed) return [el("p", {}, `Before anything is dealt, the order is still to be moved by ${sources(story)}.`)];
  const what = story.of ? "Each draw of a number was moved after it was locked in" : story.ranges ? "Each value was moved after it was locked in" : "The order was moved after it was locked in";
  const how = v.cards === undefined || story.of ? "" : story.ranges ? " What was locked in stands below a value that changed." : " “from 7” means: locked in at position 7.";
  return [el("p", {}, `${what}, by ${sources(story)}.${how}`)];
}

// fields says on how many fields of a wheel a result stands.
function fields(v: Verdict, look: Look, { deck = [] }: Story): HTMLElement[] {
  if (look !== "field" || v.cards === undefined) return [];
  const card = v.cards[0]?.card;
  return [el("p", {}, `“${card}” stands on ${deck.filter((name) => name === card).length} of the ${deck.length} fields.`)];
}

function cutCard(v: Verdict, { cutCard: c }: Story): HTMLElement[] {
  if (c === null) return [];
  if (c.place === undefined) return [el("p", {}, `The cut card lies in front of one of the places ${c.lo} to ${c.hi}: which one shows when the random bytes are disclosed. The hand in play when it comes out is the last.`)];
  return [el("p", {}, (v.next ?? 0) >= c.place ? `The cut card has come out, in front of place ${c.place}: the hand then in play was the last.`
    : `The cut card lies in front of place ${c.place}: the hand in play when it comes out is the last.`)];
}

function handedOver({ order }: Story): HTMLElement[] {
  if (order === null) return [];
  const what = order.cards === 1 ? `The card of place ${order.first}, the last one, was` : `All ${order.cards} cards from place ${order.first} on were`;
  return [el("p", {}, `${what} handed to the house’s back end in this order, which deals by itself: who got which is not in the ledger.`)];
}
