// What a verdict concludes, as codes with values (10.2). Texts only put them into words.
import { CONCLUSIONS } from "./conclusions.gen.ts";
import type { Verdict } from "./types.ts";

export type ConclusionCode = keyof typeof CONCLUSIONS;

// A Conclusion is what a proved file proves (says), what a file that holds leaves open (not), or an end that no reader
// may take for that of a hand that was played (ended).
export interface Conclusion { kind: "ended" | "says" | "not"; code: ConclusionCode; values: Record<string, string | number | string[]> }

// conclude gives the conclusions from a verdict on a file that holds. Without a trusted key it proves nothing.
export function conclude(v: Verdict): Conclusion[] {
  if (v.level === undefined) return [];
  const holds = conclusionsOf(v), values = valuesOf(v);
  return (Object.keys(CONCLUSIONS) as ConclusionCode[]).filter((code) => holds[code] && (v.verdict === "proved" || CONCLUSIONS[code].kind !== "says"))
    .map((code) => ({ kind: CONCLUSIONS[code].kind, code, values: Object.fromEntries(CONCLUSIONS[code].values.map((name) => [name, values[name]!])) }));
}

const believed = (v: Verdict) => (v.statements ?? []).filter((s) => s.trusted).map((s) => s.name);

function valuesOf(v: Verdict): Record<string, string | number | string[] | undefined> {
  const all = v.mixed?.find((m) => m.for === "everybody");
  return { names: believed(v), places: v.not_dealt_on ?? 0, overlap: v.overlap, co_dealer: v.blind?.co_dealer, seen: v.mixed?.[0]?.witnessed, round: all?.round, out: all?.time };
}

// conclusionsOf says of each conclusion whether a proved file allows it.
function conclusionsOf(v: Verdict): Record<ConclusionCode, boolean> {
  const ok = (name: string) => v.steps.some((s) => s.name === name && s.result === "ok"), isFor = (whom: string) => v.mixed?.some((m) => m.for === whom) ?? false;
  const file = v.kind === "transcript", mixed = v.level === "mixed", witnessed = v.level === "witnessed", blind = v.blind !== undefined, { terms, shuffled } = v;
  const stated = believed(v).length > 0, closed = v.state === "closed", tape = ok("tape"), unmade = file && !ok("order");
  const shown = (v.cards?.length ?? 0) > 0;
  const looked = v.dealt_on === "opened_only";
  return {
    void: file && !looked && v.outcome === "void",
    expired: file && !looked && v.outcome === "expired",
    opened_and_not_dealt_on: looked,
    entry_stands: !file,
    entry_seen: !file && witnessed,
    order_fixed: file,
    places_fixed: file && shown,
    wheel: terms?.labels !== undefined,
    pay_table: terms?.text !== undefined,
    rule_repeated: file && tape && ok("order"),
    deck_stated: unmade && stated,
    blind,
    blind_deck: v.blind?.order_checked ?? false,
    no_co_dealer: v.not_blind === "no_co_dealer",
    key_not_pinned: v.not_blind === "key_not_pinned",
    no_common_witness: v.not_blind === "no_common_witness",
    not_dealt: v.not_blind === "not_dealt",
    not_one_history: v.not_blind === "not_one_history",
    seen_before_deal: file && witnessed && v.next !== undefined,
    seen_undealt: file && witnessed && v.next === undefined,
    mixed_seen: mixed,
    mixed_all: isFor("everybody"),
    mixed_you: isFor("slot"),
    other_version: v.level === "recorded",
    second_history: witnessed || mixed,
    key_in_force: v.key_in_force !== undefined,
    opened_more: v.dealt_on === "not_shown",
    entry_true: !file,
    order_sealed: file && closed && !tape && !stated,
    order_secret: file && !closed && !tape,
    deck_unshown: unmade && !stated,
    blind_deck_unchecked: blind && !v.blind!.order_checked,
    cards_of_game: shuffled?.kind === "cards" && (shuffled.deck === undefined || shuffled.parent !== undefined),
    terms_missing: terms !== undefined && terms.count === undefined && terms.labels === undefined && terms.text === undefined,
    tickets_unseen: terms?.count !== undefined,
    winner_chosen: terms?.house_could_choose ?? false,
    clocks: isFor("everybody"),
    others_need: mixed && !isFor("everybody"),
    ended_others: mixed,
    tried_several: file && !mixed,
    one_party: blind,
    house_sees: blind,
    house_looked: file && !blind,
    sandbox: (file || v.entry?.type === "commit" || v.entry?.type === "genesis") && !v.production,
  };
}
