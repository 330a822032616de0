// Terms and tickets.
import { ofTerms } from "./conclusions.ts";
import { named } from "./cards.ts";
import { el } from "./dom.ts";
import { state } from "./state.ts";
import { fill, iso, num, t, tech } from "./words.ts";
import type { Verdict } from "../src/verify/types.ts";

// termsSection says what the values mean, and which number a ticket has.
export function termsSection(v: Verdict): HTMLElement | null {
  if (v.level === undefined || !v.terms) return null;
  const { kind, hash, count, labels, text } = v.terms, parts: HTMLElement[] = [];
  if (labels) {
    const total = labels.reduce((sum, l) => sum + l.weight, 0);
    parts.push(el("p", {}, t.labels(num(total))),
      el("dl", { class: "pairs" }, ...labels.flatMap((l) => [el("dt", {}, iso(l.label)), el("dd", {}, t.weight(num(l.weight), num(total)))])));
  } else if (text !== undefined) {
    parts.push(el("p", {}, t.payTable), named(t.hash, hash), el("pre", { tabindex: "0", dir: "auto" }, text));
  } else if (kind === "ticket_list") {
    parts.push(el("p", {}, t.tickets(num(count!))), named(t.root, hash));
    parts.push(...ofTerms(v), ticketLine(v));
  } else {
    parts.push(...ofTerms(v));
  }
  return el("section", {}, el("h3", {}, t.terms), ...parts);
}

// ticketLine says which number the given ticket has, and whether it was drawn.
function ticketLine(v: Verdict): HTMLElement {
  if (state.ticket === null) return el("p", {}, t.giveTicket);
  try {
    const { line, number, place } = shuffled.ticketOf(state.ticket.bytes, v);
    return el("p", {}, t.ticket(iso(line), num(number)), " ", place !== undefined ? t.drawn(place) : t.notDrawn(num(v.cards?.length ?? 0)));
  } catch (e) {
    return el("p", {}, ...fill(t.noTicket, { name: iso(state.ticket.name), why: tech((e as Error).message) }));
  }
}
