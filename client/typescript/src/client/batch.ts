// Many steps in one request.
import type {
  Batch as Answer,
  BatchResult,
  Close,
  CloseRequest,
  Deal,
  DealRequest,
  DrawsRequest,
  Mix,
  MixRequest,
  Problem,
  Reveal,
  RevealRequest,
  ShuffleRequest,
} from "./api.gen.ts";
import { opOf, type Client } from "./client.ts";
import type { Committed } from "./committed.ts";
import { ShuffledError, fault, unresolved } from "./errors.ts";
import { mistake, type Asked, type CallOptions } from "./ledger.ts";
import { afterOf, pause, refusedBy, sleep } from "./send.ts";
import { read } from "./shown.ts";

// A Step is one command, with exactly one request. of is the shuffle that the command is for, or
// the parent that a commit continues. from can stand in its place: it is the number of an earlier
// step of the batch, whose shuffle the command is for.
export interface Step {
  key?: string; // idempotency key of a commit or draw
  of?: Committed;
  from?: number;
  shuffle?: ShuffleRequest;
  draw?: DrawsRequest;
  mix?: MixRequest;
  deal?: DealRequest;
  reveal?: RevealRequest;
  close?: CloseRequest;
}

// Done is the proved answer to a step. If the step was refused, only error is set. In the error of a batch, nothing is
// set for a step whose answer was not proved.
export interface Done {
  shuffle?: Committed;
  mix?: Mix;
  deal?: Deal;
  reveal?: Reveal;
  close?: Close;
  error?: ShuffledError;
}

export class Batch {
  private readonly done: Done[] = [];
  private readonly whens: Asked[] = [];

  constructor(
    private readonly client: Client,
    private readonly steps: Step[],
    private readonly o: CallOptions & { allOrNone?: boolean },
  ) {}

  async run(): Promise<Done[]> {
    const {
      client: { ledger: l },
      steps,
      o,
    } = this;
    if (l.log.waits) await this.client.check();
    const operations = [];
    for (const [i, step] of steps.entries()) operations.push(await this.operation(i, step));
    for (const step of steps) this.whens.push(await l.command(o, step.key));
    const body = { operations, ...(o.allOrNone && { all_or_none: true }) };
    for (let attempt = 1; ; attempt++) {
      const tries = { open: false };
      try {
        const answer = await l.send({ method: "POST", path: "/batch", body, signal: o.signal }, tries);
        if (tries.open) for (const when of this.whens) when.tries.open = true;
        const after = await this.prove(answer);
        if (after < 0 || attempt === l.config.attempts) return this.done;
        await sleep(Math.max(after, pause(l.config, attempt)), o.signal);
      } catch (e) {
        // Not a ShuffledError: the signal ended a pause, and the steps that were refused for now are open.
        const error = e instanceof ShuffledError ? e : unresolved(e);
        error.done = steps.map((_, i) => this.done[i] ?? {});
        throw error;
      }
    }
  }

  private async operation(i: number, step: Step): Promise<object> {
    const [op, body] = opOf(step);
    if (op === "shuffle" || op === "draw") {
      if (step.key === undefined) throw mistake(`step ${i} of the batch has no key`);
      await this.client.ready(step, this.o);
      return { op, key: step.key, body };
    }
    if (step.of) {
      await this.client.ready(step, this.o);
      return { op, shuffle: step.of.id, body };
    }
    if (step.from === undefined || !(step.from >= 0 && step.from < i))
      throw mistake(`step ${i} of the batch is of a shuffle, or of that of an earlier step`);
    return { op, shuffle: { op: step.from }, body };
  }

  // prove proves the steps of an answer that were not done before. It gives the milliseconds after
  // which the batch may be sent again; below 0 if no refused step may be tried again.
  private async prove(answer: string): Promise<number> {
    const { results } = read<Answer>(answer);
    if (!Array.isArray(results) || results.length !== this.steps.length)
      throw fault(`${this.steps.length} steps were asked for, and others are in the answer`, answer);
    let after = -1,
      refused = 0;
    for (const [i, r] of results.entries()) {
      const had = this.done[i];
      if (r?.status !== 200) refused++;
      if (had && !had.error) continue;
      if (r?.status === 200) {
        this.done[i] = await this.proveOne(i, r, answer);
      } else {
        this.done[i] = { error: this.refusal(i, r, answer) };
        after = Math.max(after, afterOf(r.retry_after));
      }
    }
    if (this.o.allOrNone && refused > 0 && refused < results.length)
      throw fault("some of the steps were done, and all or none was asked for", answer);
    return after;
  }

  private proveOne(i: number, r: BatchResult, answer: string): Promise<Done> {
    const step = this.steps[i]!,
      commits = step.shuffle !== undefined || step.draw !== undefined;
    const of = step.of ?? (commits ? undefined : this.done[step.from!]?.shuffle);
    if (!of && !commits) throw fault(`step ${i} is answered, and the commit that it is of was refused`, answer);
    return this.client.prove(step, of, this.whens[i]!, JSON.stringify(r.body));
  }

  private refusal(i: number, r: BatchResult | undefined, answer: string): ShuffledError {
    const p = r?.body as Partial<Problem> | undefined;
    if (typeof p?.code !== "string" || typeof p.title !== "string" || p.status !== r!.status)
      throw fault(`step ${i} is neither answered nor refused`, answer);
    const error = refusedBy(p as Problem),
      { tries } = this.whens[i]!;
    if (error.code === "outcome_unknown") tries.open = true;
    error.unknown = tries.open;
    return error;
  }
}
