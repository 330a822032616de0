// One call, repeated until there is a final answer.
import type { Problem } from "./api.gen.ts";
import { ShuffledError } from "./errors.ts";

const MAX_ANSWER = 64 * 2 ** 20; // the largest is a transcript
const MAX_RETRY_AFTER = 60_000;
const NEVER = -1; // the pause before a call that is not to be made again

export interface SendConfig {
  base: string;
  token: string;
  fetch: typeof globalThis.fetch;
  attempts: number;
  pause: number;
  maxPause: number;
  timeout: number;
}

export interface Request {
  method: "GET" | "POST" | "PUT";
  path: string;
  query?: Record<string, string | number | undefined>;
  key?: string | undefined;
  body?: unknown;
  signal?: AbortSignal | undefined;
}

export interface Tries {
  open: boolean;
} // a try of it may have been done

// Refused is a try that failed. again is the shortest pause in milliseconds before the next try, or
// NEVER. open says that the daemon may have carried out the call.
interface Refused {
  error: ShuffledError;
  again: number;
  open: boolean;
}

// send makes the call. Every try has the same body and key, so that nothing is done twice.
export async function send(c: SendConfig, r: Request, tries: Tries = { open: false }): Promise<string> {
  const body = r.body === undefined ? undefined : JSON.stringify(r.body);
  let heard = false;
  for (let attempt = 1; ; attempt++) {
    const got = await once(c, r, body);
    if (typeof got === "string") return got;
    if (got.open) heard = tries.open = true;
    got.error.unknown = heard;
    if (got.again === NEVER || attempt === c.attempts || r.signal?.aborted) throw got.error;
    try {
      await sleep(Math.max(got.again, pause(c, attempt)), r.signal);
    } catch {
      throw got.error;
    }
  }
}

async function once(c: SendConfig, r: Request, body: string | undefined): Promise<string | Refused> {
  const what = `${r.method} ${r.path}`;
  let response: Response;
  try {
    const limit = AbortSignal.timeout(c.timeout);
    response = await c.fetch(address(c, r), {
      method: r.method,
      headers: headers(c, r, body),
      body: body ?? null,
      redirect: "manual",
      signal: r.signal ? AbortSignal.any([r.signal, limit]) : limit,
    });
    if (response.status === 200) return await text(response);
    return refusal(response, what, await text(response));
  } catch (e) {
    if (e instanceof ShuffledError) return { error: e, again: NEVER, open: true };
    const why = e instanceof Error && e.cause instanceof Error ? e.cause.message : String(e);
    const error = new ShuffledError("network", `${what} got no answer: ${why}`, { cause: e });
    return { error, again: 0, open: !isUnheard(e) };
  }
}

function address(c: SendConfig, r: Request): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(r.query ?? {})) if (value !== undefined) query.set(name, String(value));
  return c.base + r.path + (query.size > 0 ? `?${query}` : "");
}

export function headers(c: SendConfig, r: Request, body: string | undefined): Record<string, string> {
  const out: Record<string, string> = {};
  if (body !== undefined) out["Content-Type"] = "application/json";
  if (r.key !== undefined) out["Idempotency-Key"] = r.key;
  if (c.token !== "") out["Authorization"] = `Bearer ${c.token}`;
  return out;
}

async function text(response: Response): Promise<string> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (const reader = response.body?.getReader(); reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MAX_ANSWER) {
      await reader.cancel();
      throw new ShuffledError("network", `the answer has more than ${MAX_ANSWER} bytes`, { status: response.status });
    }
    pieces.push(value as Uint8Array<ArrayBuffer>);
  }
  return new Blob(pieces).text();
}

// isUnheard tells whether no connection was made. In browsers it is always false: they do not say.
function isUnheard(e: unknown): boolean {
  const code = e instanceof Error && e.cause instanceof Error ? (e.cause as Error & { code?: string }).code : undefined;
  return code === "ECONNREFUSED" || code === "ENOTFOUND" || code === "EAI_AGAIN" || code === "UND_ERR_CONNECT_TIMEOUT";
}

// refusal gives the error of a problem document, or refused_by_gateway if the answer is none.
export function refusal(response: Response, what: string, answer: string): Refused {
  const problem = /^application\/problem\+json/.test(response.headers.get("Content-Type") ?? "")
    ? parsed(answer)
    : null;
  const { status } = response,
    requestId = response.headers.get("Request-Id") ?? undefined;
  const error =
    problem === null
      ? new ShuffledError("refused_by_gateway", `${what} was answered with ${status}, and not by the daemon`, {
          status,
          requestId,
        })
      : refusedBy(problem, status, requestId);
  const open = error.code === "outcome_unknown" || (error.code === "refused_by_gateway" && status >= 500);
  return { error, again: retryAfter(response), open };
}

export function refusedBy(p: Problem, status = p.status, requestId?: string): ShuffledError {
  return new ShuffledError(p.code, p.detail ?? p.title, { status, field: p.field, shuffles: p.shuffles, requestId });
}

function parsed(answer: string): Problem | null {
  try {
    const p = JSON.parse(answer) as Problem;
    return typeof p.code === "string" && typeof p.title === "string" ? p : null;
  } catch {
    return null;
  }
}

// retryAfter gives the milliseconds that the header Retry-After asks for. The daemon sends it if
// another try is safe and may help, and proxies send it with 503. Without it, 502 and 504 may be
// tried again at once: the gateway got no answer, as if the network had lost it.
function retryAfter(response: Response): number {
  if (response.status < 400) return NEVER;
  const asked = response.headers.get("Retry-After") ?? "";
  if (/^[0-9]{1,9}$/.test(asked)) return Math.min(Number(asked) * 1000, MAX_RETRY_AFTER);
  const at = Date.parse(asked);
  if (!Number.isNaN(at)) return Math.min(Math.max(at - Date.now(), 0), MAX_RETRY_AFTER);
  return response.status === 502 || response.status === 504 ? 0 : NEVER;
}

// afterOf gives the pause that a refused step of a batch asks for.
export const afterOf = (seconds: number | undefined) =>
  seconds === undefined ? NEVER : Math.min(seconds * 1000, MAX_RETRY_AFTER);

// pause gives the milliseconds to wait after an attempt. They double up to a limit. Half of them is
// random, so that clients that failed together do not all come back together.
export function pause(c: SendConfig, attempt: number): number {
  const d = Math.min(c.pause * 2 ** (attempt - 1), c.maxPause);
  return d / 2 + ((crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32) * d) / 2;
}

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
