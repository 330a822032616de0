// The page on paper: one sheet for a reader who was not there. On the screen it is not shown.
import { hands, rounds } from "./cards.ts";
import { all } from "./conclusions.ts";
import { el } from "./dom.ts";
import { face, lookOf } from "./faces.ts";
import { fill, iso, num, t, when } from "./words.ts";
import type { Story, Verdict } from "../src/verify/types.ts";

// A Sheet has what the sheet says besides the verdict: its headline and facts, the key that was given, and the file that
// was judged.
export interface Sheet { title: string; summary: (string | Node)[]; facts: HTMLElement; key: string; name: string; digest: string }

// shown lists the opened cards of each round, by recipient.
function shown(v: Verdict, story: Story): HTMLElement[] {
  const look = lookOf(story), byPlace = new Map(v.cards?.map((card) => [card.place, card]));
  return rounds(story).flatMap((round) => {
    const its = hands(v, story, round).map(({ title, places }) => ({ title, cards: places.filter((place) => byPlace.has(place)).map((place) => face(byPlace.get(place)!, look, story.ranges?.[place]).picture.textContent || String(byPlace.get(place)!.shows)) })) // a die has no text
      .filter(({ cards }) => cards.length > 0);
    return its.length === 0 ? [] : [el("h3", {}, round > 0 ? t.round(round) : t.cardsShown), el("dl", { class: "pairs" }, ...its.flatMap(({ title, cards }) => [el("dt", {}, title), el("dd", {}, iso(cards.join("  ")))]))];
  });
}

const hash = "SHA-256";

// paper gives the sheet.
export function paper(v: Verdict, story: Story | null, { title, summary, facts, key, name, digest }: Sheet): HTMLElement {
  const list = (heading: string, lines: string[]) => lines.length === 0 ? [] : [el("h3", {}, heading), el("ul", {}, ...lines.map((line) => el("li", {}, line)))];
  const results = { "ok": t.holds, "failed": t.fails, "not checked": t.notChecked };
  return el("section", { class: "paper" }, el("h2", {}, t.paperTitle),
    el("p", {}, el("strong", {}, title), ". ", ...all(v, "ended").map((line) => `${line} `), ...summary, v.level !== undefined && " ", ...v.level === undefined ? [] : fill(t.levelReached, { level: t.levels[v.level][0] })),
    v.level !== undefined && facts, ...story && v.level !== undefined ? shown(v, story) : [],
    v.last_goes_on && el("p", {}, t.roundGoesOn(v.last_round!)),
    ...list(t.saysHead, all(v, "says")),
    el("h3", {}, t.paperHow), el("p", {}, t.paperSteps, " ", ...v.steps.flatMap((s, i) => [i > 0 ? "; " : "", el("code", { dir: "ltr" }, s.name), ` ${results[s.result]}`])),
    v.witnesses && el("p", {}, t.witnessesAt, ": ", v.witnesses.map((w) => t.at(iso(w.name), w.time ? when(w.time) : t.noTime)).join("; ")),
    ...list(t.notHead, all(v, "not")),
    el("h3", {}, t.paperRepeat), el("p", {}, ...fill(t.repeat, { command: el("code", { dir: "ltr" }, "shuffled verify --key KEY FILE") })),
    el("dl", { class: "pairs" }, el("dt", {}, t.keyGiven), el("dd", {}, key === "" ? t.noKeyGiven : el("code", { dir: "ltr" }, key)), el("dt", {}, t.file), el("dd", {}, name), el("dt", {}, hash), el("dd", {}, el("code", { dir: "ltr" }, digest)),
      el("dt", {}, t.size), el("dd", {}, v.checkpoint ? num(v.checkpoint.size) : "–")));
}
