// The verdict, its steps and its facts.
import { blindSection } from "./blind.ts";
import { cardSection } from "./cards.ts";
import { $, el } from "./dom.ts";
import { levelSection } from "./level.ts";
import { pastSection } from "./past.ts";
import { termsSection } from "./terms.ts";
import { RESULTS, STEPS, VERDICTS, advice, passedOver, summary, unchecked, when } from "./words.ts";
import type { Link } from "./state.ts";
import type { StepResult, Story, Verdict } from "../src/verify/types.ts";

function verdictSection(v: Verdict, name: string, more: HTMLElement | undefined): HTMLElement {
  const [mark, holds] = VERDICTS[v.verdict];
  const title = v.failed === "format" ? "Damaged, or no evidence at all" : holds;
  const failed = v.steps.find((s) => s.result === "failed");
  const unknown = passedOver(v);
  return el("section", { class: `verdict ${v.verdict.replace(" ", "-")}` },
    el("span", { class: "mark", "aria-hidden": "true" }, mark),
    el("div", {},
      el("h2", { id: "result-title", tabindex: "-1" }, title),
      el("p", {}, summary(v), unchecked(v)),
      failed && el("p", { class: "advice" }, advice(failed.name)),
      unknown !== null && el("p", {}, unknown),
      failed ? el("dl", { class: "pairs" },
        el("dt", {}, "Failed at"), el("dd", {}, `step ${v.steps.indexOf(failed) + 1} of ${v.steps.length}, `, el("code", {}, failed.name)),
        el("dt", {}, "Found"), el("dd", {}, failed.detail),
        el("dt", {}, "Likely cause"), el("dd", {}, failed.cause)) : null,
      v.kind && v.steps[1]?.result === "ok" && (v.entry === undefined || v.entry.type === "genesis" || v.entry.type === "commit") && !v.production
        ? el("p", { class: "sandbox" }, "A sandbox: a game for testing, not for money.") : null,
      el("p", { class: "source" }, name), more));
}

// A key that the file itself brings is not known to be the right one.
function stepTitle(s: StepResult, v: Verdict): string {
  if (s.name === "signature" && s.result === "ok" && v.level === "key not pinned") return "The ledger is signed by the key in this file";
  return STEPS[s.name]![s.result === "failed" ? 1 : 0];
}

function stepSection(v: Verdict): HTMLElement {
  return el("section", {}, el("h3", {}, "Step by step"),
    el("ol", { role: "list", class: "steps" }, ...v.steps.map((s) => {
      const [mark, word] = RESULTS[s.result];
      return el("li", { class: s.result.replace(" ", "-") },
        el("span", { class: "mark", "aria-hidden": "true" }, mark),
        el("div", {},
          el("p", { class: "title" }, stepTitle(s, v), " ",
            el("span", { class: "state" }, word), " ", el("code", {}, s.name)),
          el("p", { class: "detail" }, s.detail, s.cause ? ` – likely cause: ${s.cause}` : "")));
    })));
}

// by names who caused an entry: an identity, and the credential that it showed.
const by = ({ identity, credential }: { identity: string; credential: string }) => identity === credential ? identity : `${identity}, with the credential ${credential}`;
const dealtBy = ({ identity, first, last }: Story["dealers"][number]) => first === last ? `${identity}, place ${first}` : `${identity}, places ${first} to ${last}`;

function factSection(v: Verdict, story: Story | null): HTMLElement | null {
  const outcome = v.outcome && (v.reason ? `${v.outcome}, ${v.reason}` : v.outcome).replaceAll("_", " ");
  const all: [string, string | number | undefined][] = [
    ["Ledger", v.ledger && `${v.ledger}${v.steps[1]?.result === "ok" && (v.id || v.entry?.type === "genesis") ? v.production ? ", production" : ", sandbox" : ""}`],
    ["Entries in it", v.checkpoint && v.checkpoint.size.toLocaleString("en")],
    ["Entry", v.entry && `${v.entry.index}, ${v.entry.type}, by ${by(v.entry)}`],
    ["Written", v.entry?.time && when(v.entry.time)],
    ["Shuffle", v.id],
    ["File of", v.recipient],
    ["Table", v.table && `${v.table}, number ${v.serial}`],
    ["Game", v.game_ref],
    ["Committed", v.committed_at && `${when(v.committed_at)}${v.owner ? `, by ${v.owner}` : ""}`],
    ["Dealt by", story?.dealers.map(dealtBy).join("; ")],
    ["To close by", v.close_by && when(v.close_by)],
    ["Closed", v.closed_at && `${when(v.closed_at)}, ${outcome}`],
    ["State", v.state === "open" ? "open: the file holds no close" : v.state === "continued" ? "continued: its randomness comes after the last shuffle of these cards" : undefined],
    ["Stated by", v.statements?.map((s) => s.trusted ? s.name : `${s.name}, who is not trusted: it gives nothing`).join("; ")],
    ["Witnesses", v.witnesses?.map((w) => `${w.name}, at ${w.time ? when(w.time) : "no time"}`).join("; ")],
    ["Randomness goes to", v.disclosure && (v.disclosure === "public" ? "everybody, at the close" : "the auditors, at the close")],
    ["Commitment", v.commitment],
    ["Deck root", v.deck_root],
  ];
  const facts = all.filter(([, value]) => value !== undefined && value !== "");
  if (facts.length === 0) return null;
  return el("section", {}, el("h3", {}, v.verdict === "failed" ? "What the file says: do not rely on it" : "What the file says"),
    el("dl", { class: "pairs" }, ...facts.flatMap(([k, value]) => [el("dt", {}, k), el("dd", {}, String(value))])));
}

export function show({ verdict: v, story }: { verdict: Verdict; story: Story | null }, name: string, link: Link | undefined, more: HTMLElement | undefined): void {
  $("result").replaceChildren(...[verdictSection(v, name, more), pastSection(v, story, link), cardSection(v, story), termsSection(v), levelSection(v, story), blindSection(v), stepSection(v), factSection(v, story),
    el("details", {}, el("summary", {}, "The verdict as JSON"), el("pre", { tabindex: "0" }, JSON.stringify(v, null, 1)))].filter((section) => section !== null));
  $("result").hidden = false;
  $("result-title").focus();
}
