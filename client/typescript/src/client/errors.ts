// The one class of errors, by code.
import type { Code } from "./api.gen.ts";
import type { Done } from "./batch.ts";

// fault: the evidence of an answer does not prove it. not_witnessed: the policy's quorum has not
// cosigned. network: a call got no answer that can be used. refused_by_gateway: not the daemon, but
// something in front of it, refused the call. caller: a mistake of the caller.
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

// ShuffledError is the class of every error of the client. sentence says what is wrong. status is
// the HTTP status of the answer, 0 without one.
export class ShuffledError extends Error {
  readonly status: number;
  readonly field: string | undefined; // the member of the request that is at fault
  readonly shuffles: number[] | undefined; // for which_shuffle: the ids of the open shuffles
  readonly requestId: string | undefined; // names the request in the daemon's log
  readonly answer: string | undefined; // for a fault: the answer's body, or the newest signed checkpoint
  readonly other: string | undefined; // for a fork: the signed checkpoint that contradicts it
  // unknown says that the daemon may have carried out the call, or that it did and what proves its
  // answer could not be had. The same call with the same key finds out.
  unknown = false;
  done: Done[] | undefined; // of a batch that failed: the answers that were proved before, by step

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

// unresolved marks an error as one that leaves open what became of a command.
export function unresolved(e: unknown): ShuffledError {
  const error = e instanceof ShuffledError ? e : new ShuffledError("network", `the call was ended: ${e}`, { cause: e });
  error.unknown = true;
  return error;
}
