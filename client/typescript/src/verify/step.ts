// What a step of 10.1 is.
import type { State } from "./types.ts";

export class Skip { constructor(readonly why: string) {} }

export const skip = (why: string) => new Skip(why);
export const many = (n: number, one: string, more = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : more}`;

// A Step gives the detail of what holds, or a Skip with the reason why it was not checked. It
// throws a Fault, Malformed or Unknown. The steps from legality on run for transcripts only, after
// the step entries, which makes the Whole that they take.
export type Outcome = string | Skip;
export interface Step { run(s: State): Outcome | Promise<Outcome>; cause: string }
