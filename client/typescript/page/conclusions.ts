// What a verdict proves, and what it does not: the codes of the verifier, in words.
import { el, type Child } from "./dom.ts";
import { state } from "./state.ts";
import { iso, listed, num, t, when } from "./words.ts";
import type { Conclusion, ConclusionCode } from "../src/verify/conclude.ts";
import type { Verdict } from "../src/verify/types.ts";

// Some conclusions stand where the reader looks first. All others are listed together.
const FIRST: ConclusionCode[] = ["entry_seen", "seen_before_deal", "seen_undealt", "mixed_seen", "mixed_all", "mixed_you", "deck_stated", "deck_unshown", "opened_more"];
const TERMS: ConclusionCode[] = ["terms_missing", "winner_chosen"];
const BLIND: ConclusionCode[] = ["blind", "blind_deck", "no_co_dealer", "key_not_pinned", "no_common_witness", "not_dealt", "not_one_history", "blind_deck_unchecked", "one_party", "house_sees"];

// sentence gives the words of a conclusion.
export const sentence = ({ code, values }: Conclusion): string => t.conclusions[code].replace(/\{(\w+)\}/g, (_, name: string) => {
  const value = values[name] ?? "";
  if (Array.isArray(value)) return listed(value.map(iso));
  if (typeof value === "number") return name === "round" ? String(value) : num(value);
  return name === "seen" || name === "out" ? when(value) : iso(value);
});

const paragraph = (c: Conclusion) => el("p", {}, c.kind === "not" && el("strong", {}, t.notHead, ": "), sentence(c), c.code === "mixed_you" && state.slotOfLink && ` ${t.slotOfLink}`);
const those = (v: Verdict, codes: ConclusionCode[]) => shuffled.conclude(v).filter(({ code }) => codes.includes(code)).map(paragraph);

// ended gives the end that no reader may take for that of a hand that was played.
export const ended = (v: Verdict): Conclusion | undefined => shuffled.conclude(v).find(({ kind }) => kind === "ended");

export const first = (v: Verdict): Child[] => those(v, FIRST);
export const ofTerms = (v: Verdict): HTMLElement[] => those(v, TERMS);
export const ofBlind = (v: Verdict): HTMLElement[] => those(v, BLIND);

// all gives the words of every conclusion of a kind.
export const all = (v: Verdict, of: Conclusion["kind"]): string[] => shuffled.conclude(v).filter(({ kind }) => kind === of).map(sentence);

// concludedSection lists the other conclusions.
export function concludedSection(v: Verdict): HTMLElement | null {
  const others = shuffled.conclude(v).filter(({ code }) => ![...FIRST, ...TERMS, ...BLIND].includes(code));
  const list = (kind: Conclusion["kind"], title: string) => [el("h4", {}, title), el("ul", {}, ...others.filter((c) => c.kind === kind).map((c) => el("li", {}, sentence(c), c.code === "mixed_you" && state.slotOfLink && ` ${t.slotOfLink}`)))];
  return others.length === 0 ? null : el("details", { class: "behind concluded" }, el("summary", {}, el("h3", {}, t.concluded)), ...list("says", t.saysHead), ...list("not", t.notHead));
}
