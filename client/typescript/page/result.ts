// The verdict, its steps and its facts.
import { blindSection } from "./blind.ts";
import { cardSection } from "./cards.ts";
import { concludedSection, ended, first, sentence } from "./conclusions.ts";
import { $, el, input, type Child } from "./dom.ts";
import { levelSection } from "./level.ts";
import { paper } from "./paper.ts";
import { pastSection } from "./past.ts";
import { state } from "./state.ts";
import { termsSection } from "./terms.ts";
import { fill, iso, listed, num, of, spelt, t, tech, when } from "./words.ts";
import type { Link } from "./state.ts";
import type { Result, StepResult, Story, Verdict } from "../src/verify/types.ts";

const MARKS: Record<Verdict["verdict"] | Result, string> = { "proved": "✓", "consistent": "≈", "failed": "✗", "cannot judge": "?", "ok": "✓", "not checked": "–" };

// says gives the sentence for a step that holds, or for one that fails.
const says = (step: string, failed: boolean): string => of(t.stepSays, step)![failed ? 1 : 0];

// unread tells whether what is trusted could not be read. Then no step was begun.
const unread = (v: Verdict): boolean => v.verdict === "cannot judge" && v.steps.length === 0;

function summary(v: Verdict, keyOfLink: boolean): Child[] {
  if (v.verdict === "failed") return [says(v.failed!, true)];
  if (v.verdict === "consistent") return [t.consistent];
  if (v.verdict === "cannot judge") return fill(unread(v) ? t.badTrust : t.unknown, { what: tech(v.unknown!) });
  if (v.kind === "receipt") return [keyOfLink ? t.receiptOfLink : t.receipt];
  return [keyOfLink ? t.provedOfLink : t.proved];
}

// unchecked says that the shuffle was not worked out again, if that is so.
function unchecked(v: Verdict): Child[] {
  const order = v.steps.find((s) => s.name === "order");
  return v.level === undefined || v.kind !== "transcript" || order?.result !== "not checked" ? [] : [" ", t.notAgain[v.state!]];
}

// passedOver says how much of the file this page does not know.
function passedOver(v: Verdict): string | null {
  if (v.level === undefined || v.passed_over === undefined) return null;
  const n = v.passed_over.reduce((sum, p) => sum + p.count, 0), kinds = v.passed_over.length;
  return t.passedOver(num(n), n === 1, num(kinds), kinds === 1);
}

// ranges says how many values are 1 to what, at most of the first 8 ranges.
function ranges(list: number[]): string {
  const runs: [number, number][] = [];
  list.forEach((k, i) => k === list[i - 1] ? runs.at(-1)![0]++ : runs.push([1, k]));
  return runs.slice(0, 8).map(([n, k]) => `${num(n)} × 1–${num(k)}`).join(", ") + (runs.length > 8 ? ", …" : "");
}

// shuffled says what was shuffled, so that a deck which is none of the published ones cannot pass for one of them.
function shuffled({ shuffled: s, places = 0 }: Verdict): string | null {
  const words = t.shuffled;
  if (s === undefined) return null;
  if (s.kind === "draws") return words.draws(num(places), iso(ranges(s.ranges!)));
  if (s.kind === "numbers") return words.numbers(num(places), num(s.of!));
  const all = Object.entries(s.differs ?? {}), counts = [...new Set(all.map(([, n]) => n))].sort((a, b) => a - b);
  const differs = counts.map((n) => (n < 0 ? words.fewer : words.more)(num(Math.abs(n)), listed(all.filter(([, m]) => m === n).map(([card]) => iso(spelt(card))))));
  const of = s.deck !== undefined ? iso(s.deck) : s.like === undefined ? words.none : differs.length === 0 ? words.reordered(iso(s.like)) : words.like(iso(s.like), differs.join("; "));
  if (s.parent !== undefined) return words.child(num(s.cards!), String(s.parent), of);
  return places < s.cards! ? words.part(num(places), num(s.cards!), of) : words.cards(num(s.cards!), of);
}

function verdictSection(v: Verdict, said: Child[], name: string, more: HTMLElement | undefined): HTMLElement {
  const failed = v.steps.find((s) => s.result === "failed"), unknown = passedOver(v);
  const giveKey = (v.verdict === "consistent" || unread(v)) && el("button", { type: "button", class: "plain" }, t.giveKey);
  if (giveKey) giveKey.addEventListener("click", () => $("trust").focus());
  const bad = ended(v); // it holds, and how it ended comes first
  return el("section", { class: `verdict ${bad ? "consistent" : v.verdict.replace(" ", "-")}` },
    el("span", { class: "mark", "aria-hidden": "true" }, bad ? "!" : MARKS[v.verdict]),
    el("div", {},
      el("h2", { id: "result-title", tabindex: "-1" }, v.failed === "format" ? t.noEvidence : bad ? of(t.endTitles, bad.code) : t.verdicts[v.verdict]),
      v.level !== undefined && pairs(handFacts(v)),
      bad && el("p", {}, el("strong", {}, sentence(bad))),
      el("p", {}, ...bad ? [el("strong", {}, t.verdicts[v.verdict]), ". "] : [], ...said, ...unchecked(v)),
      ...first(v),
      v.level !== undefined && el("p", { class: "shuffled" }, shuffled(v)),
      failed && el("p", { class: "advice" }, el("strong", {}, t.relyOnNothing), " ", of(t.advice, failed.name) ?? t.getAgain),
      unknown !== null && el("p", {}, unknown),
      failed ? el("dl", { class: "pairs" },
        el("dt", {}, t.failedAt), el("dd", {}, t.step(v.steps.indexOf(failed) + 1, v.steps.length), el("code", { dir: "ltr" }, failed.name)),
        el("dt", {}, t.found), el("dd", {}, tech(failed.detail)),
        el("dt", {}, t.cause), el("dd", {}, tech(failed.cause!))) : null,
      v.kind && v.steps[1]?.result === "ok" && (v.entry === undefined || v.entry.type === "genesis" || v.entry.type === "commit") && !v.production
        ? el("p", { class: "sandbox" }, t.sandbox) : null,
      giveKey && el("p", {}, giveKey),
      el("p", { class: "source" }, name), more));
}

// stepTitle gives the sentence for a step. If the key came in the file, nobody knows that it is the right
// one, and the sentence says so.
const stepTitle = (s: StepResult, v: Verdict): string =>
  s.name === "signature" && s.result === "ok" && v.level === "key not pinned" ? t.keyInFile : says(s.name, s.result === "failed");

function stepSection(v: Verdict): HTMLElement {
  const words: Record<Result, string> = { "ok": t.holds, "failed": t.fails, "not checked": t.notChecked }, count = (result: Result) => v.steps.filter((s) => s.result === result).length;
  return el("details", { class: "behind", open: v.verdict === "failed" && "" },
    el("summary", {}, el("h3", {}, t.steps), v.level !== undefined && el("span", { class: "help" }, t.stepsOf(count("ok"), count("not checked")))),
    el("ol", { role: "list", class: "steps" }, ...v.steps.map((s) => el("li", { class: s.result.replace(" ", "-") },
      el("span", { class: "mark", "aria-hidden": "true" }, MARKS[s.result]),
      el("div", {},
        el("p", { class: "title" }, stepTitle(s, v), " ",
          el("span", { class: "state" }, words[s.result]), " ", el("code", { dir: "ltr" }, s.name)),
        el("p", { class: "detail" }, tech(s.detail), ...(s.cause ? fill(t.likely, { cause: tech(s.cause) }) : [])))))));
}

// by names the identity that caused an entry, and the credential that it showed.
const by = ({ identity, credential }: { identity: string; credential: string }) => identity === credential ? iso(identity) : t.withCredential(iso(identity), iso(credential));

type Fact = [label: string, value: string | undefined | false, bytes?: true];

const pairs = (all: Fact[]) => el("dl", { class: "pairs" }, ...all.filter(([, value]) => value).flatMap(([label, value, bytes]) => [el("dt", {}, label), el("dd", { dir: bytes && "ltr" }, value as string)]));

// handFacts say which hand it is: of which house, table and number, when, by which service, and how it ended.
function handFacts(v: Verdict): Fact[] {
  const outcome = v.outcome && [of(t.outcomes, v.outcome) ?? iso(v.outcome), v.reason && (of(t.reasons, v.reason) ?? t.reasonUnknown)].filter(Boolean).join(t.comma);
  return [
    [t.house, v.ledger && [iso(v.ledger), ...(v.steps[1]?.result === "ok" && (v.id || v.entry?.type === "genesis") ? [v.production ? t.production : t.testing] : [])].join(t.comma)],
    [t.table, v.table && t.serial(iso(v.table), v.serial!)],
    [t.game, v.game_ref && iso(v.game_ref)],
    [t.entry, v.entry && t.entryBy(v.entry.index, iso(v.entry.type), by(v.entry))],
    [t.written, v.entry?.time && when(v.entry.time)],
    [t.committed, v.committed_at && (v.owner ? t.by(when(v.committed_at), iso(v.owner)) : when(v.committed_at))],
    [t.closedAt, v.closed_at && [when(v.closed_at), outcome].join(t.comma)],
    [t.state, v.state === "open" ? t.open : v.state === "continued" && t.goesOn],
  ];
}

function factSection(v: Verdict, story: Story | null): HTMLElement | null {
  const all: Fact[] = [
    ...v.level === undefined ? handFacts(v) : [], // of a file that holds, they stand in front
    [t.size, v.checkpoint && num(v.checkpoint.size)],
    [t.shuffleNumber, v.id === undefined ? undefined : String(v.id)],
    [t.fileOf, v.recipient && iso(v.recipient)],
    [t.dealtBy, story?.dealers.map((d) => t.dealt(iso(d.identity), d.first, d.last)).join("; ")],
    [t.closeBy, v.close_by && when(v.close_by)],
    [t.statedBy, v.statements?.map((s) => s.trusted ? iso(s.name) : t.notTrusted(iso(s.name))).join("; ")],
    [t.witnessesAt, v.witnesses?.map((w) => t.at(iso(w.name), w.time ? when(w.time) : t.noTime)).join("; ")],
    [t.disclosure, v.disclosure && (v.disclosure === "public" ? t.everybody : t.toAuditors)],
    [t.commitment, v.commitment, true],
    [t.deckRoot, v.deck_root, true],
  ];
  if (all.every(([, value]) => !value)) return null;
  return el("details", { class: "behind" }, el("summary", {}, el("h3", {}, v.verdict === "failed" ? t.factsFailed : t.facts)), pairs(all));
}

// show writes the result and puts the focus on it. When the language changes, state.result writes it again without the
// focus.
export function show({ verdict: v, story }: { verdict: Verdict; story: Story | null }, name: () => string, digest: string, link: Link | undefined, more: () => HTMLElement | undefined): void {
  const key = input("trust").value.trim(), ofLink = state.keyOfLink; // as judged: the field may change before the language
  state.result = () => {
    const bad = ended(v), sheet = { title: bad ? of(t.endTitles, bad.code)! : t.verdicts[v.verdict], summary: summary(v, ofLink) as (string | Node)[], key, facts: pairs(handFacts(v)), name: name(), digest };
    $("result").replaceChildren(...[verdictSection(v, summary(v, ofLink), name(), more()), pastSection(v, story, link), cardSection(v, story), termsSection(v), blindSection(v), concludedSection(v), levelSection(v, story), stepSection(v), factSection(v, story),
      el("details", { class: "json" }, el("summary", {}, t.json), el("pre", { tabindex: "0", dir: "ltr", lang: "en" }, JSON.stringify(v, null, 1))), paper(v, story, sheet)].filter((section) => section !== null));
  };
  state.result();
  $("result").hidden = false;
  $("result-title").focus();
}
