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

const AGAIN = "Keep this file as it is. Get the evidence once more from the house; if it fails again, give both files to the regulator or to a test laboratory. They can repeat this check with a program of their own.";
const ADVICE: Record<string, string> = {
  format: "Get the file again from where you had it: a copy may have been cut off or changed on its way.",
  signature: "Compare the key that you gave, letter for letter, with the one that the regulator or the licence names. If it is right, the file is of another ledger or a forgery: show it to the regulator.",
  witnesses: "Compare the policy that you gave with the one that the regulator or the licence names. If the shuffle is some seconds old, get the file again.",
  origin: "Compare the name of the ledger with the one on your licence or receipt. A sandbox is for trying the software, and says nothing of a game for money.",
  slots: "Look whether the value is the one that you gave for this very shuffle. If it is, keep the file and the receipt that you got with your value, and show both to the regulator.",
  co_dealer: "Compare the policy for the other organisation with the one that it publishes. If it is right, show the file to that organisation.",
  statements: "Compare the auditor’s key that you gave with the one that the auditor publishes.",
};

// advice says what a reader of evidence that does not hold can do.
export const advice = (step: string) => `Rely on nothing that this file says. ${ADVICE[step] ?? AGAIN}`;

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

// when gives a time by the reader's clock, and in UTC, as it stands in the ledger.
export function when(time: string): string {
  const utc = `${time.slice(11, 19)} UTC`, at = new Date(time), local = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
  return at.getTimezoneOffset() === 0 ? `${time.slice(0, 10)}, ${utc}` : `${local.format(at)} (${time.slice(0, 10)}, ${utc})`;
}
export const listed = (words: string[]) => words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
