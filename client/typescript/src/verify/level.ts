// The level of a file whose steps hold (10.2, 10.5).
import { roundTime } from "./beacon.ts";
import { time, toBase64 } from "./bytes.ts";
import { BEACON, CARDS, CUT } from "./codes.ts";
import { checkpoints } from "./ledgersteps.ts";
import { noLevel } from "./policy.ts";
import type { Context, Level, State, Verdict, Whole } from "./types.ts";

// levelOf gives the level up to witnessed (10.2). If the policy or the second of the quorum keeps
// it at recorded, it also gives the reason.
export function levelOf(s: State): [Level, string?] {
  if (s.trust.logs.length === 0) return ["key not pinned"];
  if (!s.trust.quorum) return ["recorded"];
  const none = noLevel(s);
  if (s.file.kind === "receipt") return none ? ["recorded", none] : ["witnessed"];
  const { mix, deals } = s as Whole, first = mix ?? deals[0], { witnessed } = s.file;
  if (!witnessed || witnessed.unmet || first !== undefined && witnessed.checkpoint.size > first.index) return ["recorded"];
  const late = first === undefined ? 0 : witnessed.checkpoint.complete! * 1000 - first.entry.time;
  if (late > WITNESS_GRACE) return ["recorded", `the witnesses saw it ${Math.ceil(late / 1000)} s after the ${first.entry.type}`];
  return none ? ["recorded", none] : ["witnessed"];
}

// WITNESS_GRACE, in milliseconds: a quorum can be complete this long after the first mix or deal, because
// clocks differ (10.2).
export const WITNESS_GRACE = 10000;

// choiceLeft tells what a house could choose in a shuffle with a mix although it could not know the
// value of a slot or beacon when it committed (10.5). It gives null if there is nothing.
export function choiceLeft({ plan, parent, kind, n, m }: Context): string | null {
  if (plan.some((p) => p.source === CUT)) return "the cut could be chosen when everything else was known";
  if (parent) return "the cards of a child were chosen by somebody who may have known its parent’s order";
  if (kind === CARDS && m < n) return `which ${m} of the ${n} cards are in it is left to the tape alone: a mix only moves them`;
  return null;
}

// raise sets the level mixed if it is due to somebody (10.5). If a step gives it to nobody, its
// detail gets the reason.
export function raise(s: Whole, v: Verdict): void {
  if (!s.mix) return;
  const nobody = choiceLeft(s.context) ?? (v.level !== "witnessed" ? "no quorum that is trusted saw the commit in time" : null);
  const why = nobody ? { beacon: nobody, slots: nobody } : raiseWitnessed(s, v);
  for (const step of v.steps) {
    const reason = (why as Record<string, string>)[step.name];
    if (reason && step.result === "ok") step.detail += `; it gives nobody the level mixed: ${reason}`;
  }
}

// raiseWitnessed sets the level mixed, for everybody or holders of slots as 10.5 says, in a witnessed shuffle
// that left the house no choice. It gives the reason why a step gives the level to nobody, by the name of the
// step.
function raiseWitnessed(s: Whole, v: Verdict): { beacon?: string; slots?: string } {
  const { plan } = s.context, seen = checkpoints(s.file).at(-1)!.complete!, witnessed = time(seen * 1000), mixed: Verdict["mixed"] = [];
  if (!s.round && plan.some((p) => p.source === BEACON)) return { slots: "the beacon’s value may be anything, and could be chosen when the slots were known" };
  const out = s.round && roundTime(s.round), early = out !== undefined && seen < out;
  if (early) mixed.push({ for: "everybody", witnessed, round: s.round, time: time(out * 1000) });
  for (const i of [...s.mine ?? []].sort((a, b) => a - b)) mixed.push({ for: "slot", witnessed, slot: toBase64(plan[i]!.slot_hash!) });
  if (mixed.length > 0) Object.assign(v, { level: "mixed", mixed });
  return out === undefined || early ? {} : { beacon: `the quorum saw the commit by ${witnessed}, and not before the round came out` };
}
