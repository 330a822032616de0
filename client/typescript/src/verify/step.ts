// What a step of 10.1 gives: its detail, or why it was skipped.
import type { State } from "./types.ts";

// Each takes the state s of a run and gives the detail of a step that holds,
// or skip(why); it throws a Fault, Malformed or Unknown.

export class Skip { constructor(readonly why: string) {} }

export const skip = (why: string) => new Skip(why);
export const many = (n: number, one: string, more = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : more}`;

// A Step gives the detail of what holds, or why it was skipped; it throws a Fault,
// Malformed or Unknown. Those behind entries run on the Whole of a transcript, which the
// order of the steps makes sure of.
export type Outcome = string | Skip;
export interface Step { run(s: State): Outcome | Promise<Outcome>; cause: string }
