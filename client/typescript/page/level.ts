// The level that was reached, and what is between it and the next.
import { el } from "./dom.ts";
import { state } from "./state.ts";
import { LEVELS, when } from "./words.ts";
import type { Level, Story, Verdict } from "../src/verify/types.ts";

// rests says for whom a level is, and what it rests on.
function rests(v: Verdict): string[] {
  const histories = v.overlap ? [`Two histories of this ledger that both reach this level would need ${v.overlap} ${v.overlap === 1 ? "witness" : "witnesses"} of your policy to lie. `
    + "Who runs the witnesses behind their names is not known here, and readers with other policies are not covered."] : [];
  if (v.level !== "mixed") return histories;
  return [...histories, `For you alone: ${state.slotOfLink ? "the secret value that came with the link, which you say you chose," : "your secret value"} went into the order. The witnesses had seen the shuffle fixed by ${when(v.mixed?.[0]?.witnessed ?? "")}. `
    + "If you chose the value at random, nobody but you knew it until then, and you gave it for no other shuffle, the order hangs on a value that the house could not know when it committed. Who got which of the next places was still the house’s word.",
  "To the others at the table your value says nothing: they each need one of their own. And the house can still end a shuffle that it dislikes, which shows: as void, or expired."];
}

// missing says what is between this level and the next.
function missing(v: Verdict, story: Story | null): string[] {
  const result = (name: string) => v.steps.find((s) => s.name === name)?.result;
  const why = /the level stays recorded: (.*)$/.exec(v.steps.find((s) => s.name === "witnesses")?.detail ?? "")?.[1];
  if (v.level === "recorded" && why) return [`The witnesses signed, and the level stays recorded: ${why}.`];
  if (v.kind === "receipt") return missingOfReceipt(v, result);
  if (v.level === "recorded" && result("witnesses") === "ok") return ["The witnesses saw this ledger, but this file does not show that they saw it before the first card was dealt."];
  if (v.level === "recorded") return ["For more, give a policy that names the ledger’s key and witnesses that you trust, instead of a key alone."];
  return v.level === "witnessed" && story ? [steered(story)] : [];
}

// steered says why a witnessed shuffle has the level mixed for nobody here.
function steered({ plan, mixed, choice, ranges }: Story): string {
  const has = (source: string) => plan.some((p) => p.source === source);
  const what = ranges ? "values" : "order";
  if (plan.length === 0) return `Not mixed: the house’s random bytes alone made the ${what}. No player and no beacon had a part in it.`;
  if (choice) return `Not mixed: ${choice}.`;
  if (!mixed) return "Not mixed yet: the values that the house does not know are still to come.";
  if (has("beacon")) return `The ${what} also hang${ranges ? "" : "s"} on a public beacon. No browser can check its signature; shuffled verify does, and can give it the level mixed for everybody.`;
  return `The ${what} also hang${ranges ? "" : "s"} on secret values of players. To those who gave one it can be mixed: give yours above. To everybody else these values may be the house’s own.`;
}

function missingOfReceipt(v: Verdict, result: (name: string) => string | undefined): string[] {
  const more = v.level === "witnessed" ? ["A receipt alone shows that the witnesses saw this entry, and not before what else."] : [];
  if (result("slots") !== "ok") return more;
  return [v.level === "witnessed" ? "Your secret value is promised in this commit, and the witnesses saw the commit. Now the value can be handed in. Keep the number of the shuffle: the value counts for this one only."
    : "Your secret value is promised in this commit. Hand it in when the receipt shows that the witnesses you trust saw the commit, not before.", ...more];
}

export function levelSection(v: Verdict, story: Story | null): HTMLElement | null {
  if (v.level === undefined) return null;
  const names = (Object.keys(LEVELS) as Level[]).filter((name) => name !== "key not pinned" || v.level === name);
  const reached = names.indexOf(v.level);
  return el("section", {}, el("h3", {}, "Level reached: ", el("strong", {}, v.level), v.level === "mixed" ? ", for you alone" : null),
    el("ol", { role: "list", class: "levels" }, ...names.map((name, i) => el("li", { class: i > reached ? "above" : v.level === "key not pinned" ? "reached weak" : i === reached ? "reached" : undefined, "aria-current": i === reached ? "step" : undefined },
      el("strong", {}, name), el("span", { class: "state" }, i === reached ? " – reached" : i < reached ? " – passed" : " – not reached"),
      el("span", { class: "why" }, LEVELS[name])))),
    ...[...rests(v), ...missing(v, story)].map((text) => el("p", { class: "help" }, text)));
}
