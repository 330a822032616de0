// The cards, and what the page says of how they came.
import { el } from "./dom.ts";
import { face, lookOf, type Look } from "./faces.ts";
import { listed } from "./words.ts";
import type { ShownCard, Story, Verdict } from "../src/verify/types.ts";

// movedFrom says what the mix did to one card or value. Of numbers, what was locked in is draws.
const movedFrom = (card: ShownCard, { of }: Story) => of ? null : card.shows !== undefined
  ? card.shows !== card.value && `locked in as ${card.value}`
  : card.position !== card.place && `from ${card.position}`;

// cardItem draws a card; who is said under it, except where it stands under a name.
function cardItem(card: ShownCard, look: Look, story: Story, named: boolean): HTMLElement {
  const { said, picture } = face(card, look, story.ranges?.[card.position]);
  const who = !named && (card.recipient ?? (card.purpose === "order" ? "back end" : card.purpose)), from = story.mixed && movedFrom(card, story);
  const note = [card.recipient && card.purpose, card.public && "public", card.revealed && "revealed"].filter(Boolean).join(", ");
  return el("li", {}, picture,
    el("span", { class: "unseen" }, `${said}, place ${card.place}`),
    who && el("span", { class: "who" }, who),
    el("span", { class: "note" }, el("span", { "aria-hidden": "true" }, `#${card.place} `), note),
    from && el("span", { class: "note" }, from));
}

const backItem = (place: number) => el("li", { class: "back" }, el("span", { class: "face down", "aria-hidden": "true" }),
  el("span", { class: "unseen" }, `face down, place ${place}`), el("span", { class: "note", "aria-hidden": "true" }, `#${place}`));

const MOST_CARDS = 1000;
const PURPOSES: Record<string, string> = { seat: "The seats", board: "The board", burn: "Burned", discard: "Discarded", rabbit: "After the end", order: "Handed to the back end" };

interface Hand { title: string; own: boolean; shared: boolean; places: number[] }

// hands sorts the places that were dealt by whom they are for, the reader's own first, each in the order of the deal.
function hands(v: Verdict, { dealt }: Story): Hand[] {
  const all = new Map<string, Hand>();
  for (const [place, { purpose, recipient }] of dealt.slice(0, MOST_CARDS).entries()) {
    const key = recipient === undefined ? purpose : `for ${recipient}`, own = recipient !== undefined && recipient === v.recipient;
    if (!all.has(key)) all.set(key, { title: own ? `${recipient}: this file is for you` : recipient ?? PURPOSES[purpose] ?? purpose, own, shared: recipient === undefined, places: [] });
    all.get(key)!.places.push(place);
  }
  return [...all.values()].sort((a, b) => Number(b.own) - Number(a.own));
}

// list draws the cards of some places, with backs for those that are not shown here.
function list(v: Verdict, look: Look, story: Story, places: number[], named: boolean): HTMLElement {
  const byPlace = new Map(v.cards?.map((card) => [card.place, card])), items: HTMLElement[] = [], cut = story.cutCard?.place;
  for (const [i, place] of places.entries()) {
    if (cut !== undefined && place >= cut && !(i > 0 && places[i - 1]! >= cut)) items.push(el("li", { class: "cut" }, "cut card"));
    const card = byPlace.get(place);
    items.push(card ? cardItem(card, look, story, named) : backItem(place));
  }
  return el("ol", { role: "list", class: "cards" }, ...items);
}

const TITLES: Record<Look, string> = { drawn: "The values drawn", french: "The cards shown", ball: "The numbers drawn", field: "The result", plain: "The cards shown", long: "The cards shown" };

export function cardSection(v: Verdict, story: Story | null): HTMLElement | null {
  if (v.level === undefined || v.kind !== "transcript" || story === null) return null;
  const look = lookOf(story), told = [...moved(v, story), ...fields(v, look, story), ...cutCard(v, story), ...handedOver(story)];
  const title = el("h3", {}, story.of ? TITLES.ball : TITLES[look]), opened = v.cards?.length ?? 0;
  if (story.dealt.length === 0) return el("section", {}, title, el("p", {}, "None."), ...told);
  const all = story.ranges || look === "field" ? [] : hands(v, story), places = Array.from(story.dealt.slice(0, MOST_CARDS).keys());
  const drawn = all.length < 2 ? [list(v, look, story, places, false)]
    : [el("div", { class: "hands" }, ...all.map(({ title: name, shared, places: its }) => el("section", { class: shared ? "hand shared" : "hand" }, el("h4", {}, name), list(v, look, story, its, true))))];
  return el("section", {}, title,
    v.places! > 1 && el("p", {}, `Shown to everybody: ${v.shown ?? 0} of ${v.next} dealt. ${opened} are opened here; ${v.places} were locked in before the deal. # counts the places dealt, from 0.`), ...told, ...drawn,
    story.dealt.length > MOST_CARDS ? el("p", {}, `… and ${story.dealt.length - MOST_CARDS} more, in the JSON below.`) : null);
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
