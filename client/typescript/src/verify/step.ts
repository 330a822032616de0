// What a step of 10.1 gives: its detail, or why it was skipped.

// Each takes the state s of a run and gives the detail of a step that holds,
// or skip(why); it throws a Fault, Malformed or Unknown.

export class Skip { constructor(why) { this.why = why; } }

export const skip = (why) => new Skip(why);
export const many = (n, one, more = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : more}`;
