// What the values mean, and which number a ticket has.
import { named } from "./cards.ts";
import { el } from "./dom.ts";
import { state } from "./state.ts";
import type { Verdict } from "../src/verify/types.ts";

// termsSection says what the values mean, and which number a ticket has.
export function termsSection(v: Verdict): HTMLElement | null {
  if (v.level === undefined || !v.terms) return null;
  const { kind, hash, count, labels, text } = v.terms, parts: HTMLElement[] = [];
  if (labels) {
    const total = labels.reduce((sum, l) => sum + l.weight, 0);
    parts.push(el("p", {}, `Each value from 1 to ${total.toLocaleString("en")} shows one of these, in this order:`),
      el("dl", { class: "pairs" }, ...labels.flatMap((l) => [el("dt", {}, l.label), el("dd", {}, `${l.weight.toLocaleString("en")} of ${total.toLocaleString("en")}`)])));
  } else if (text !== undefined) {
    parts.push(el("p", {}, "The pay table that was locked in before the deal:"), named("Hash", hash), el("pre", { tabindex: "0" }, text));
  } else if (kind === "ticket_list") {
    parts.push(el("p", {}, `The numbers stand for ${count!.toLocaleString("en")} tickets, in a list whose root was locked in before the deal. The list was not seen here: a ticket’s proof shows one line of it.`), named("Root", hash));
    if (v.terms.house_could_choose) parts.push(el("p", {}, "The house could choose the winner: nothing that this page can check kept it from trying random bytes until it liked the numbers."));
    parts.push(ticketLine(v));
  } else {
    parts.push(el("p", {}, "The document that says what the values mean is not in the file."));
  }
  return el("section", {}, el("h3", {}, "What the values mean"), ...parts.filter(Boolean));
}

// ticketLine says what the ticket that was given is in this shuffle.
function ticketLine(v: Verdict): HTMLElement {
  if (state.ticket === null) return el("p", {}, "Give the proof of a ticket as well, to see which number it has.");
  try {
    const t = shuffled.ticketOf(state.ticket.bytes, v);
    return el("p", {}, `Ticket ${t.line} has the number ${t.number.toLocaleString("en")}. `, t.place !== undefined ? `It was drawn, at place ${t.place}.`
      : `It is not among the ${(v.cards?.length ?? 0).toLocaleString("en")} numbers that this file shows.`);
  } catch (e) {
    return el("p", {}, `${state.ticket.name} is no proof of a ticket of this shuffle: ${(e as Error).message}.`);
  }
}
