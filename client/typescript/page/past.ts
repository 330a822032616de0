// Where the cards come from, and how the shuffle ended.
import { el } from "./dom.ts";
import { nameOf } from "./link.ts";
import { when } from "./words.ts";
import type { Link } from "./state.ts";
import type { Story, ToldTakeover, Verdict } from "../src/verify/types.ts";

const REASONS: Record<string, string> = {
  misdeal: "it was dealt wrongly",
  exposed_card: "a card was seen that nobody was to see",
  foul_deck: "the deck was not as it should be",
  game_cancelled: "the game was called off",
  operator_error: "the house made a mistake",
  system_fault: "a system of the house failed",
  player_dispute: "a player disputed it",
  mix_failed: "a value that was promised for the mix did not come",
  regulator: "a regulator ordered it",
  tape_lost: "the house has lost its random bytes",
};

// ending says how a shuffle ended, where its end is not the ordinary one.
function ending(v: Verdict): string | null {
  if (v.outcome === "void") return `The house declared this shuffle void. Its reason: ${REASONS[v.reason ?? ""] ?? "one that this page does not know"}. The shuffle stays in the ledger, and so does what was dealt of it.`;
  if (v.outcome === "expired") return "Nobody closed this shuffle by its deadline, and it expired. It stays in the ledger, and so does what was dealt of it.";
  if (v.outcome === "continued") return "The game went on with cards of this shuffle, shuffled again: the next shuffle at this table.";
  if (v.state === "open" && v.close_by !== undefined && Date.parse(v.close_by) <= Date.now())
    return `This file ends before the shuffle was closed. It was to be closed by ${when(v.close_by)}, and by this device’s clock that is past. Ask for the file as it is now: without a close, the house is late.`;
  return null;
}

// origin says of a child what is checked of where its cards come from.
function origin({ id, cards }: { id: number; cards: number }, link: Link | undefined): HTMLElement {
  const name = `shuffle ${id}`;
  const there = link ? el("a", { href: `#${nameOf({ ...link, id })}` }, name) : name;
  return el("p", {}, "These cards come from ", there, `: ${cards} of its cards were shuffled again. Checked here is that every card shown is the one that was locked in for its place, before the first was dealt. `,
    `Not checked here is that they are the cards of ${name}: that takes both files, or an audit of the ledger.`);
}

// EXTENTS says what a takeover let its owner do from then on.
const EXTENTS: Record<string, string> = { close: "close it, and nothing else", play: "play it on and close it" };

// takenOver says who took the shuffle over from whom, where in it, and why. The reason is the house's word.
function takenOver({ time, identity, from, place, extent, reason }: ToldTakeover): HTMLElement {
  return el("p", {}, `${identity} took this shuffle over from ${from}${time ? `, on ${when(time)}` : ""}, ${place === 0 ? "before the first card was dealt" : place === 1 ? "when place 0 was dealt" : `when places 0 to ${place - 1} were dealt`}. From then on ${identity} could ${EXTENTS[extent]}. The house says: “${reason}”`);
}

export function pastSection(v: Verdict, story: Story | null, link: Link | undefined): HTMLElement | null {
  if (v.level === undefined) return null;
  const end = ending(v), parts = [...(v.takeovers ?? []).map(takenOver), ...(end === null ? [] : [el("p", {}, end)])];
  if (story?.parent) parts.unshift(origin(story.parent, link));
  return parts.length > 0 ? el("section", { class: "ending" }, ...parts) : null;
}
