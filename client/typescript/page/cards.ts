// The cards, and what the page says about their order.
import { el } from "./dom.ts";
import { face, lookOf, type Look } from "./faces.ts";
import { iso, listed, of, t } from "./words.ts";
import type { ShownCard, Story, Verdict } from "../src/verify/types.ts";

// movedFrom says what the mix did to one card or value. It says nothing of numbers: their draws were locked in.
const movedFrom = (card: ShownCard, story: Story) => story.of ? null : card.shows !== undefined
  ? card.shows !== card.value && t.lockedInAs(card.value)
  : card.position !== card.place && t.from(card.position);

// purpose gives the word for the purpose of one place, heading the one above several places.
const purpose = (code: string) => of(t.purposes, code)?.[1] ?? iso(code);
const heading = (code: string) => of(t.purposes, code)?.[0] ?? iso(code);

// cardItem draws a card. Unless the card is in a hand with a name, the recipient or purpose stands below it.
function cardItem(card: ShownCard, look: Look, story: Story, named: boolean): HTMLElement {
  const { said, picture } = face(card, look, story.ranges?.[card.position]);
  const who = !named && (card.recipient === undefined ? purpose(card.purpose) : iso(card.recipient)), from = story.mixed && movedFrom(card, story);
  const note = [!named && card.recipient && purpose(card.purpose), card.public && !named && t.public, card.revealed && t.revealed].filter(Boolean).join(t.comma);
  return el("li", {}, picture,
    el("span", { class: "unseen" }, t.place(said, card.place)),
    who && el("span", { class: "who" }, who),
    el("span", { class: "note" }, el("bdi", { "aria-hidden": "true" }, `#${card.place}`), note && ` ${note}`),
    from && el("span", { class: "note" }, from));
}

const backItem = (place: number) => el("li", { class: "back" }, el("span", { class: "face down", "aria-hidden": "true" }),
  el("span", { class: "unseen" }, t.place(t.down, place)), el("span", { class: "note", "aria-hidden": "true" }, el("bdi", {}, `#${place}`)));

const MOST_CARDS = 1000;

interface Hand { title: string; kind: string; rank: number; places: number[] }

// hands sorts the dealt places of a round by recipient, or by purpose if they have none, each in the order of the deals:
// the reader's own first, then the board, the other recipients, and the other purposes.
export function hands(v: Verdict, { dealt }: Story, round: number): Hand[] {
  const all = new Map<string, Hand>();
  for (const [place, { purpose: code, recipient, round: its }] of dealt.slice(0, MOST_CARDS).entries()) {
    const key = recipient === undefined ? code : `for ${recipient}`, own = recipient !== undefined && recipient === v.recipient;
    if (its !== round) continue;
    if (!all.has(key)) all.set(key, own ? { title: t.yours(iso(recipient)), kind: "own", rank: 0, places: [] }
      : recipient !== undefined ? { title: iso(recipient), kind: "", rank: 2, places: [] }
      : code === "board" ? { title: heading(code), kind: "board", rank: 1, places: [] } : { title: heading(code), kind: "aside", rank: 3, places: [] });
    all.get(key)!.places.push(place);
  }
  return [...all.values()].sort((a, b) => a.rank - b.rank);
}

// rounds gives the numbers of the rounds in the order of the deals; 0 is what belongs to none.
export const rounds = ({ dealt }: Story): number[] => [...new Set(dealt.slice(0, MOST_CARDS).map(({ round }) => round))];

// list draws the cards of some places. A card that the file does not open is drawn face down.
function list(v: Verdict, look: Look, story: Story, places: number[], named: boolean): HTMLElement {
  const byPlace = new Map(v.cards?.map((card) => [card.place, card])), items: HTMLElement[] = [], cut = story.cutCard?.place;
  for (const [i, place] of places.entries()) {
    if (cut !== undefined && place >= cut && !(i > 0 && places[i - 1]! >= cut)) items.push(el("li", { class: "cut" }, t.cutCard));
    const card = byPlace.get(place);
    items.push(card ? cardItem(card, look, story, named) : backItem(place));
  }
  return el("ol", { role: "list", class: "cards" }, ...items);
}

export function cardSection(v: Verdict, story: Story | null): HTMLElement | null {
  if (v.level === undefined || v.kind !== "transcript" || story === null) return null;
  const look = lookOf(story), told = [...moved(v, story), ...fields(v, look, story), ...cutCard(story, v.next ?? 0), ...handedOver(story)];
  const title = el("h3", {}, story.of ? t.numbersDrawn : look === "drawn" ? t.valuesDrawn : look === "ball" ? t.numbersDrawn : look === "field" ? t.result : t.cardsShown), opened = v.cards?.length ?? 0;
  if (story.dealt.length === 0) return el("section", {}, title, el("p", {}, t.none), ...told);
  const plain = story.ranges || look === "field", numbers = rounds(story), named = !plain && numbers.some((round) => round > 0);
  const drawn = (plain ? [0] : numbers).flatMap((round) => {
    const all = plain ? [] : hands(v, story, round), places = [...story.dealt.slice(0, MOST_CARDS).keys()].filter((place) => plain || story.dealt[place]!.round === round);
    return [named && round > 0 && el("h4", { class: "round" }, t.round(round)), all.length < 2 ? list(v, look, story, places, false)
      : el("div", { class: "hands" }, ...all.map(({ title: name, kind, places: its }) => el("section", { class: `hand ${kind}` }, el(named ? "h5" : "h4", {}, name), list(v, look, story, its, true))))];
  });
  return el("section", {}, title, ...drawn,
    v.last_goes_on && el("p", { class: "help" }, t.roundGoesOn(v.last_round!)),
    opened < story.dealt.length && el("p", { class: "help" }, t.faceDown),
    v.places! > 1 && el("p", { class: "help" }, t.counts(v.shown ?? 0, v.next ?? 0, opened, v.places!)), ...told,
    story.dealt.length > MOST_CARDS ? el("p", {}, t.moreBelow(story.dealt.length - MOST_CARDS)) : null);
}

export const named = (name: string, value: string) => el("dl", { class: "pairs" }, el("dt", {}, name), el("dd", { dir: "ltr" }, value));

// sources names the values of the mix, which come alongside the house's own random bytes.
function sources({ plan }: Story): string {
  const slots = plan.filter((p) => p.source === "slot");
  const words = slots.length > 0 ? [t.slots(slots.length, slots.filter((p) => p.mine).length)] : [];
  for (const p of plan) {
    if (p.source === "beacon") words.push(t.beacon(p.round!));
    if (p.source === "cut") words.push(t.cut(p.cut));
  }
  return listed(words);
}

function moved(v: Verdict, story: Story): HTMLElement[] {
  const second = story.coDealer === undefined ? [] : [el("p", {}, t.placesOf(iso(story.coDealer)))];
  if (story.plan.length === 0) return second;
  const by = sources(story);
  if (!story.mixed) return [...second, el("p", {}, t.toMove(by))];
  return [...second, el("p", {}, story.of ? t.movedNumbers(by) : story.ranges ? t.movedValues(by) : t.movedOrder(by), v.cards !== undefined && !story.of && ` ${story.ranges ? t.howValues : t.howOrder}`)];
}

// fields says how many fields of a wheel have the label of the result.
function fields(v: Verdict, look: Look, { deck = [] }: Story): HTMLElement[] {
  const card = v.cards?.[0]?.card;
  return look === "field" && card !== undefined ? [el("p", {}, t.fields(iso(card), deck.filter((name) => name === card).length, deck.length))] : [];
}

function cutCard({ cutCard: c }: Story, next: number): HTMLElement[] {
  if (c === null) return [];
  return [el("p", {}, c.place === undefined ? t.cutSecret(c.lo!, c.hi!) : next >= c.place ? t.cutOut(c.place) : t.cutAhead(c.place))];
}

const handedOver = ({ order }: Story): HTMLElement[] => order === null ? [] : [el("p", {}, t.handedOver(order.first, order.cards))];
