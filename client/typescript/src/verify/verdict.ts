// The verdict (10.1, 10.4).
import { blindness, dealtOn } from "./blindsteps.ts";
import { describe, tell } from "./describe.ts";
import { Fault, Malformed, Unknown } from "./errors.ts";
import { readTrust } from "./keys.ts";
import { levelOf, raise } from "./level.ts";
import { checkHashes } from "./sha256.ts";
import { Skip } from "./step.ts";
import { STEPS, stepsOf } from "./steps.ts";
import type { Bytes, State, StepResult, Story, Trust, Verdict, Whole } from "./types.ts";

// verify gives the verdict of 10.4 on a transcript or receipt, given as text or as its bytes. trust
// has vkey or policy, or neither. slots are values of 32 bytes: verify judges for the holder of
// these slots. auditors are verifier keys: verify believes the statements under them. coDealer is a
// policy for the ledger of a co-dealer: without it no shuffle is blind. history is the text of the
// game's history.
//
// verify reads nothing else, keeps nothing of a file, and needs only WebCrypto. It throws for a
// mistake of the caller or if there is no WebCrypto, and never for the content of a file.
export const verify = async (input: string | Uint8Array, trust?: Trust): Promise<Verdict> => (await judge(input, trust)).verdict;

let hashesRight: Promise<void> | undefined;

// judge does the same, and also gives what the page tells of a shuffle alongside its verdict: the
// story, null unless every step of a transcript holds.
export async function judge(input: string | Uint8Array, trust: Trust = {}): Promise<{ verdict: Verdict; story: Story | null }> {
  if (!globalThis.crypto?.subtle) throw new Error("no WebCrypto here: open the page from disk, or over HTTPS");
  if (typeof input !== "string" && !(input instanceof Uint8Array)) throw new TypeError("a file is bytes or text");
  if (trust.slots?.some((v) => !(v instanceof Uint8Array) || v.length !== 32)) throw new TypeError("a slot's value is 32 bytes");
  await (hashesRight ??= checkHashes());
  const s = { input: input as string | Bytes, deals: [], takeovers: [] } as Partial<Whole> as Whole; // the steps fill it
  const v: Verdict = { verdict: "proved", steps: [], production: false };
  let step: StepResult | undefined;
  try {
    s.trust = readTrust(trust);
    v.steps = stepsOf(input).map((name) => ({ name, result: "not checked", detail: "an earlier step ended the run" }));
    for (step of v.steps) await runStep(s, step);
    if (s.cannot) throw new Unknown(`${s.cannot}, which this browser lacks`);
    const [level, why] = levelOf(s);
    v.level = level;
    if (why) v.steps.find((x) => x.name === "witnesses")!.detail += `; the level stays recorded: ${why}`;
    if (level === "witnessed") v.overlap = s.trust.quorum!.d;
    raise(s, v);
    v.verdict = v.level === "key not pinned" ? "consistent" : "proved";
    Object.assign(v, blindness(s, v.verdict === "proved"), dealtOn(s));
  } catch (e) {
    if (e instanceof Unknown) { // also before the first step, if what is trusted cannot be read
      Object.assign(v, { verdict: "cannot judge", unknown: e.message });
      if (step && step.result !== "ok") step.detail = `cannot be judged: ${e.message}`;
    } else if (step && (e instanceof Fault || e instanceof Malformed)) {
      Object.assign(v, { verdict: "failed", failed: step.name });
      Object.assign(step, { result: "failed", detail: e.message, cause: e instanceof Fault && e.likely || STEPS[step.name]!.cause });
    } else {
      throw e;
    }
  }
  const verdict: Verdict = JSON.parse(JSON.stringify({ ...v, ...describe(s, v) })); // drops undefined members
  return { verdict, story: v.level !== undefined && s.context ? tell(s) : null };
}

async function runStep(s: State, step: StepResult): Promise<void> {
  const outcome = await STEPS[step.name]!.run(s);
  if (outcome instanceof Skip) step.detail = outcome.why;
  else Object.assign(step, { result: "ok", detail: outcome });
}
