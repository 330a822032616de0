// The one class of errors, by code.
import type { Code } from "./api.gen.ts";

// A fault is an answer that its own evidence does not bear out. not_witnessed says that
// the policy's quorum has not cosigned. network is a call without an answer, refused_by_gateway
// one that something in front of the daemon refused. caller is a mistake of the caller.
export type ErrorCode = Code | "fault" | "not_witnessed" | "network" | "refused_by_gateway" | "caller";

export interface ErrorMore {
  status?: number;
  field?: string | undefined;
  shuffles?: number[] | undefined;
  requestId?: string | undefined;
  answer?: string | undefined;
  other?: string | undefined;
  cause?: unknown;
}

// ShuffledError is every error of the client. sentence is the whole of what is wrong,
// status the answer's, 0 without one.
export class ShuffledError extends Error {
  readonly status: number;
  readonly field: string | undefined; // the member of the request that is at fault
  readonly shuffles: number[] | undefined; // of which_shuffle: the ids of those that are open
  readonly requestId: string | undefined; // names the request in the daemon's log
  readonly answer: string | undefined; // of a fault: the body as it came, or the newest signed checkpoint
  readonly other: string | undefined; // of a fork: the signed checkpoint that contradicts it
  // unknown tells that a try may have been heard, and what became of it is open: the same
  // call, with the same key, tells.
  unknown = false;

  constructor(
    readonly code: ErrorCode,
    readonly sentence: string,
    more: ErrorMore = {},
  ) {
    super(sentence, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "ShuffledError";
    this.status = more.status ?? 0;
    this.field = more.field;
    this.shuffles = more.shuffles;
    this.requestId = more.requestId;
    this.answer = more.answer;
    this.other = more.other;
  }
}

export const fault = (what: string, answer: string, more: ErrorMore = {}) =>
  new ShuffledError("fault", `the answer is not to be believed: ${what}`, { ...more, answer });

export const isFault = (e: unknown): e is ShuffledError => e instanceof ShuffledError && e.code === "fault";
