// The client and the verifier of shuffled/v1.
export * from "./client/index.ts";
export { judge, readSlots, readTicket, steps, ticketOf, verify } from "./verify/index.ts";
export type { Level, ShownCard, StepResult, Story, Trust, Verdict } from "./verify/index.ts";
