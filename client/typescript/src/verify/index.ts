// The verifier of shuffled/v1, written from docs/SPEC.md and the C2SP texts alone. It shares no
// code with the daemon. Section numbers in comments are those of SPEC.
//
// A file is read as bytes, once and in order. Every size and count of 1.2 is checked before the
// work that it bounds.
import { STEPS } from "./steps.ts";

export { conclude } from "./conclude.ts";
export { judge, verify } from "./verdict.ts";
export { readTicket, ticketOf } from "./tickets.ts";
export { readSlots } from "./keys.ts";

export type { Conclusion, ConclusionCode } from "./conclude.ts";
export type { Level, ShownCard, StepResult, Story, Trust, Verdict } from "./types.ts";

// steps has the names of the steps of 10.1, in order.
export const steps = Object.keys(STEPS);
