// Plain words for steps, levels and verdicts.
import { state } from "./state.ts";
import type { Level, Result, Verdict } from "../src/verify/types.ts";

export const STEPS: Record<string, [holds: string, fails: string]> = {
  format: ["The file is whole", "This is no intact transcript or receipt."],
  entries: ["Its ledger entries belong together", "The ledger entries in this file do not belong together."],
  signature: ["The ledger is signed by the right key", "The ledger is not signed by the right key."],
  inclusion: ["Every entry is in that ledger", "Something in this file is not in the ledger."],
  witnesses: ["Outside witnesses vouch for the ledger", "Too few witnesses vouch for the ledger."],
  origin: ["All parts name the same ledger", "This is another ledger’s, or a sandbox’s."],
  slots: ["Your secret value is part of the plan", "Your secret value is not part of this shuffle’s plan."],
  legality: ["The house kept the rules", "The house broke the rules of its own ledger."],
  beacon: ["The public beacon’s value is the beacon’s", "The value put in for the public beacon is not the beacon’s."],
  deck: ["It is the deck that was promised", "This is not the deck that was promised."],
  terms: ["The values mean what was promised", "The file gives the values another meaning than was promised."],
  openings: ["The cards are the ones locked in before the deal", "A card is not the one locked in before the deal."],
  asked: ["The house asked another organisation for each place when it dealt it", "A card was dealt without the other organisation’s part."],
  tape: ["The random bytes are the ones locked in, too", "The random bytes are missing, or not the ones locked in."],
  order: ["Shuffled again, they give the same order", "Shuffled again, they do not give that order."],
  cards: ["The cards shown come out of that shuffle", "A card shown does not come out of that shuffle."],
  co_dealer: ["The other organisation’s ledger is the one you trust", "The other organisation’s ledger does not hold."],
  statements: ["An auditor you trust opened the random bytes, and they hold", "A statement in this file is not an auditor’s about this shuffle."],
};

export const LEVELS: Record<Level, string> = {
  "key not pinned": "The file agrees with itself. Nothing says who made it.",
  "recorded": "Signed, and in the ledger of the key you trust. Later edits show. A house that holds its key could still rebuild the whole ledger.",
  "witnessed": "Outside witnesses saw the ledger with this shuffle in it before the first card was dealt.",
  "mixed": "The order also hangs on a value that the house could not know when it committed. Who got which of the next places was still the house’s word.",
};

export const VERDICTS: Record<Verdict["verdict"], [mark: string, title: string]> = {
  "proved": ["✓", "Proved"],
  "consistent": ["≈", "Consistent, but not proved"],
  "failed": ["✗", "This does not hold"],
  "cannot judge": ["?", "This page cannot judge it"],
};

export const RESULTS: Record<Result, [mark: string, word: string]> = { "ok": ["✓", "holds"], "failed": ["✗", "fails"], "not checked": ["–", "not checked"] };

export function summary(v: Verdict): string {
  if (v.verdict === "proved") {
    if (v.kind === "receipt" && v.level === "witnessed") return "This entry stands in the ledger of the key you trust, and the witnesses you trust saw it there.";
    if (v.level === "witnessed") return "Everything that this file shows holds, under the key and the witnesses you trust. They saw the shuffle fixed before the first card was dealt.";
    if (v.level === "mixed") return "Everything that this file shows holds, under the key and the witnesses you trust. They saw the shuffle fixed before the first card was dealt, and your own secret value is in it.";
    const whose = state.keyOfLink ? "the key that came with the link, which you say you have compared" : "the key you trust";
    return v.kind === "receipt" ? `This entry stands in the ledger of ${whose}.` : `Everything that this file shows holds, under ${whose}.`;
  }
  if (v.verdict === "consistent")
    return "The file agrees with itself, but you named no key, and anybody can make such a file. Ask a regulator or the house for the ledger’s verifier key, and give it above.";
  if (v.verdict === "failed") return STEPS[v.failed!]![1];
  return `Something here is unknown to this version, which is no accusation: ${v.unknown}.`;
}

// unchecked says so where the shuffle itself could not be worked out again.
export function unchecked(v: Verdict): string {
  const order = v.steps.find((s) => s.name === "order");
  const holds = v.verdict === "proved" || v.verdict === "consistent";
  if (!holds || v.kind !== "transcript" || order?.result !== "not checked") return "";
  const again = ` The shuffle was not worked out again: ${order.detail}.`, each = v.cards?.some((c) => c.shows !== undefined) ? "every value was drawn by the rule" : "the deck held each card once";
  if (v.state !== "closed") return again;
  const named = v.statements?.filter((s) => s.trusted).map((s) => s.name) ?? [];
  return named.length === 0 ? `${again} That ${each} is not shown by this file.`
    : `${again} ${named.join(" and ")}, whom you trust, ${named.length === 1 ? "states" : "state"} that ${each}.`;
}

// passedOver says how much of the file this page does not know.
export function passedOver(v: Verdict): string | null {
  if (v.level === undefined || v.passed_over === undefined) return null;
  const n = v.passed_over.reduce((sum, p) => sum + p.count, 0), kinds = v.passed_over.length;
  return `This file holds ${n.toLocaleString("en")} ${n === 1 ? "entry or value" : "entries or values"} of ${kinds.toLocaleString("en")} ${kinds === 1 ? "kind" : "kinds"} that this page does not know. ${n === 1 ? "It changes" : "They change"} nothing that it checks.`;
}

export const when = (time: string) => `${time.slice(0, 10)}, ${time.slice(11, 19)} UTC`;
export const listed = (words: string[]) => words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
