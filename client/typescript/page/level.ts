// The level that was reached, and what is missing for the next one.
import { el, type Child } from "./dom.ts";
import { fill, iso, t, tech } from "./words.ts";
import type { Level, Story, Verdict } from "../src/verify/types.ts";

// mixedForAll gives what the level mixed rests on for everybody, undefined if it is not for everybody.
export const mixedForAll = (v: Verdict) => v.mixed?.find((m) => m.for === "everybody");

// missing says what is missing for the next level.
function missing(v: Verdict, story: Story | null): Child[][] {
  const result = (name: string) => v.steps.find((s) => s.name === name)?.result;
  const why = /the level stays recorded: (.*)$/.exec(v.steps.find((s) => s.name === "witnesses")?.detail ?? "")?.[1];
  if (v.level === "recorded" && why) return [fill(t.staysRecorded, { why: tech(why) })];
  if (v.kind === "receipt") return missingOfReceipt(v, result).map((text) => [text]);
  if (v.level === "recorded") return [[result("witnesses") === "ok" ? t.seenLate : t.givePolicy]];
  return v.level === "witnessed" && story ? [steered(story, result("beacon"))] : [];
}

// steered says why a witnessed shuffle does not have the level mixed.
function steered({ plan, coDealer, mixed, choice, ranges }: Story, beacon: string | undefined): Child[] {
  if (plan.length === 0) return [coDealer !== undefined ? t.placesOf(iso(coDealer)) : ranges ? t.noPlanValues : t.noPlanOrder];
  if (choice) return fill(t.choice, { why: tech(choice) });
  if (!mixed) return [t.notYet];
  const slots = ranges ? t.slotsValues : t.slotsOrder;
  if (!plan.some((p) => p.source === "beacon")) return [slots];
  if (beacon !== "ok") return [t.beaconUnknown];
  return [t.beaconLate, ...plan.some((p) => p.source === "slot") ? [" ", slots] : []];
}

function missingOfReceipt(v: Verdict, result: (name: string) => string | undefined): string[] {
  const more = v.level === "witnessed" ? [t.receiptAlone] : [];
  return result("slots") === "ok" ? [v.level === "witnessed" ? t.handIn : t.handInLater, ...more] : more;
}

const LEVELS: Level[] = ["key not pinned", "recorded", "witnessed", "mixed"];

export function levelSection(v: Verdict, story: Story | null): HTMLElement | null {
  if (v.level === undefined) return null;
  const names = LEVELS.filter((name) => name !== "key not pinned" || v.level === name);
  const reached = names.indexOf(v.level);
  return el("details", { class: "behind" },
    el("summary", {}, el("h3", {}, ...fill(t.levelReached, { level: el("strong", {}, t.levels[v.level][0]) }), v.level === "mixed" && !mixedForAll(v) ? t.forYou : null)),
    el("ol", { role: "list", class: "levels" }, ...names.map((name, i) => el("li", { class: i > reached ? "above" : v.level === "key not pinned" ? "reached weak" : i === reached ? "reached" : undefined, "aria-current": i === reached ? "step" : undefined },
      el("strong", {}, t.levels[name][0]), el("span", { class: "state" }, i === reached ? t.reached : i < reached ? t.passed : t.notReached),
      el("span", { class: "why" }, t.levels[name][1])))),
    ...missing(v, story).map((parts) => el("p", { class: "help" }, ...parts)));
}
