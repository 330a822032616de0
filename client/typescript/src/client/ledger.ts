// The ledger that a client uses: whom it trusts, and what it believes of an answer.
import { fromUTF8, join, toBase64, utf8 } from "../verify/bytes.ts";
import { readCheckpoint } from "../verify/checkpoint.ts";
import { parseEntry } from "../verify/entries.ts";
import { readLogKey } from "../verify/keys.ts";
import { signer } from "../verify/ledgersteps.ts";
import { readPolicy } from "../verify/policy.ts";
import { NAME } from "../verify/reader.ts";
import { readReceipt } from "../verify/receipt.ts";
import { readTranscript } from "../verify/transcript.ts";
import { leafOf } from "../verify/tree.ts";
import type { Bytes, Commit, Entry, EvidenceFile, NoteKey, Trust } from "../verify/types.ts";
import { verify } from "../verify/verdict.ts";
import { ShuffledError, fault } from "./errors.ts";
import { keyTime } from "./key.ts";
import { Log, type State } from "./log.ts";
import { pause, send, sleep, type Request, type SendConfig, type Tries } from "./send.ts";

// Config says which ledger to use, what to trust, and how to call.
export interface Config {
  url: string; // the daemon's address, such as https://shuffle.example.com
  ledger: string; // its name in addresses
  token?: string; // the bearer token; without it, a public ledger can be read
  // identity is the identity of the token. The entry of every command must have it. Without it, the
  // client takes the identity of the first entry of this token.
  identity?: string;
  vkey?: string; // the ledger's verifier key, which must not come from the daemon
  // policy, in place of vkey, is the text of a C2SP tlog-policy. If its quorum asks for witnesses,
  // the client mixes, deals and reveals nothing before they cosigned the commit.
  policy?: string;
  production?: boolean; // refuse the commits of a sandbox
  state?: State; // keeps the accepted checkpoints over restarts
  fetch?: typeof globalThis.fetch;
  attempts?: number; // tries of one call at most; 8 if not set
  pause?: number; // milliseconds before the second try, doubled up to maxPause for later ones; 100 if not set
  maxPause?: number; // milliseconds; 5,000 if not set
  timeout?: number; // milliseconds of one try; 30,000 if not set
}

// CallOptions are options of one call. firstTried is the time of the first try of the request: by
// this program before a restart, or by another program with the same journal. Without it, a request
// that was carried out before this client tried it is a fault, because somebody else made it.
export interface CallOptions {
  firstTried?: Date | number;
  signal?: AbortSignal;
}

// Asked says when a request was made. since is the size of the ledger that was known then.
export interface Asked {
  since: number;
  read: boolean;
  first: number;
  again: boolean;
  tries: Tries;
  signal?: AbortSignal | undefined;
}

// Proved is an entry that a receipt proves.
export interface Proved {
  entry: Entry;
  bytes: Bytes;
  index: number;
  leaf: Bytes;
  size: number;
  receipt: string;
}

// Said is what an answer says of its entry. index is null if only the receipt says it.
export interface Said {
  receipt: string;
  index: number | null;
  time: string;
  repeated: boolean;
}

const CLOCK_SKEW = 10_000; // milliseconds that the daemon's clock may be behind this host's

export class Ledger {
  readonly config: SendConfig;
  readonly log: Log;
  readonly tables = new Tables();
  readonly name: string;
  readonly origin: string; // of the ledger, which is the name of its keys
  readonly production: boolean;
  readonly asks: boolean; // the policy's quorum asks for witnesses
  readonly full: Trust; // the pinned key or policy
  private readonly keys: NoteKey[];
  private readonly signed: Trust; // the keys without the quorum, because answers are cosigned later
  private readonly credential: string;
  private identity: string | undefined;
  private remembered: Promise<void> | undefined;

  constructor(c: Config) {
    const url = URL.canParse(c.url) ? new URL(c.url) : null;
    if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.password)
      throw mistake("the daemon's address is an http or https URL without query or fragment");
    if (!NAME.test(c.ledger)) throw mistake(`the ledger's name ${JSON.stringify(c.ledger)} is none`);
    if ((c.vkey === undefined) === (c.policy === undefined))
      throw mistake("a verifier key or a policy is pinned, and not both");
    // fetch says the whole header in its error if it cannot send it, so the token is refused here, and not repeated.
    if (!/^[\x21-\x7e]*$/.test(c.token ?? "")) throw mistake("the token has a character that no token has");
    const { attempts = 8, pause = 100, maxPause = 5000, timeout = 30_000 } = c;
    if (!(attempts >= 1 && pause >= 0 && maxPause >= pause && timeout > 0))
      throw mistake("attempts and pauses are positive, and the first pause is the shortest");
    this.config = {
      base: url.href.replace(/\/+$/, ""),
      token: c.token ?? "",
      fetch: c.fetch ?? globalThis.fetch.bind(globalThis),
      attempts,
      pause,
      maxPause,
      timeout,
    };
    this.name = c.ledger;
    this.production = c.production ?? false;
    this.identity = c.identity;
    this.credential = c.token?.includes(".") ? c.token.slice(0, c.token.indexOf(".")) : "";
    [this.keys, this.asks] = trusted(c);
    this.origin = this.keys[0]!.name;
    this.full = c.policy === undefined ? { vkey: c.vkey!.trim() } : { policy: c.policy };
    this.signed = c.policy === undefined ? this.full : { policy: withoutQuorum(c.policy) };
    this.log = new Log(c.state, async (path) => this.tile(path));
  }

  // remember loads the State once.
  private remember(): Promise<void> {
    return (this.remembered ??= this.log.remember(this.keys));
  }

  async send(r: Request, tries?: Tries): Promise<string> {
    await this.remember();
    return send(this.config, { ...r, path: `/v1/${this.name}${r.path}` }, tries);
  }

  // tile fetches a tile of the log, null if the daemon has none. Another daemon of the same ledger may not have it yet,
  // so it is asked for again. send gives text, so the bytes pass through it in base64.
  private async tile(path: string): Promise<Bytes | null> {
    const c: SendConfig = {
      ...this.config,
      fetch: async (url, init) => {
        const response = await this.config.fetch(url, init);
        if (response.status !== 200) return response;
        return new Response(btoa(String.fromCharCode(...new Uint8Array(await response.arrayBuffer()))), {
          status: 200,
        });
      },
    };
    for (let attempt = 1; ; attempt++) {
      try {
        const text = await send(c, { method: "GET", path: `/log/${this.name}/tile/${path}` });
        return Uint8Array.from(atob(text), (b) => b.charCodeAt(0));
      } catch (e) {
        if (!(e instanceof ShuffledError) || e.code !== "not_found") throw e;
        if (attempt === c.attempts) return null;
        await sleep(pause(c, attempt));
      }
    }
  }

  // command and reading begin a request. They load the State first, so that since is not below what was seen before a
  // restart.
  async command(o: CallOptions = {}, key?: string): Promise<Asked> {
    await this.remember();
    const asked: Asked = {
      since: this.log.size,
      read: false,
      first: o.firstTried === undefined ? Date.now() : Number(o.firstTried),
      again: o.firstTried !== undefined,
      tries: { open: false },
      signal: o.signal,
    };
    const made = key === undefined ? null : keyTime(key);
    // Nobody else can guess the random bits of such a key, so its maker asked for the commit.
    return made === null ? asked : { ...asked, again: true, first: Math.min(asked.first, made) };
  }

  async reading(o: CallOptions = {}): Promise<Asked> {
    await this.remember();
    if (this.log.waits) await this.log.check();
    return { since: this.log.size, read: true, first: 0, again: true, tries: { open: false }, signal: o.signal };
  }

  // prove gives the entry that a receipt proves under the pinned key, at the index. Its checkpoint
  // must not contradict what the log accepted.
  async prove(receipt: string, index: number | null, when: Asked, answer: string): Promise<Proved> {
    const v = await verify(String(receipt), this.signed);
    if (v.verdict !== "proved") throw fault(`the receipt is ${v.verdict} at ${v.failed ?? v.unknown}`, answer);
    const r = readReceipt(utf8.encode(receipt)),
      checkpoint = readCheckpoint(r.signed);
    if (index !== null && r.index !== index) throw fault(`the receipt is of entry ${r.index}, not ${index}`, answer);
    const past = (r.index < when.since && !when.read) || checkpoint.size < when.since;
    await this.log.hold({ size: checkpoint.size, root: checkpoint.root, signed: fromUTF8(r.signed) }, past, answer);
    return {
      entry: parseEntry(r.bytes),
      bytes: r.bytes,
      index: r.index,
      leaf: leafOf(r.bytes),
      size: checkpoint.size,
      receipt,
    };
  }

  // witnessed gives the time, in milliseconds, at which the last witness cosigned the checkpoint of a receipt, null if
  // the policy's quorum did not.
  async witnessed(receipt: string): Promise<number | null> {
    const v = await verify(receipt, this.full);
    return v.verdict === "proved" ? Math.max(...(v.witnesses ?? []).map((w) => Date.parse(w.time ?? ""))) : null;
  }

  // evidence gives the verdict on a transcript under the pinned keys, with all also under the
  // quorum.
  evidence(text: string, all: boolean) {
    return verify(text, all ? this.full : this.signed);
  }

  // holdTranscript gives the log the checkpoints of a transcript that was proved. It leaves out a
  // checkpoint that only a key signed to which the pinned one handed on: prove refuses receipts
  // under it.
  async holdTranscript(text: string, when: Asked): Promise<void> {
    const { checkpoint, witnessed } = readTranscript(utf8.encode(text));
    for (const [c, early] of [
      [checkpoint, false],
      [witnessed?.checkpoint, true],
    ] as const) {
      if (!c || !(await signer(c, this.keys))) continue;
      const signed =
        fromUTF8(c.body) +
        "\n" +
        c.signatures.map((s) => `\u2014 ${s.name} ${toBase64(join(unhex(s.id), s.bytes))}\n`).join("");
      await this.log.hold({ size: c.size, root: c.root, signed }, c.size < when.since && !early, text);
    }
  }

  // entriesOf gives the entries of a transcript that was proved.
  entriesOf({ receipts }: EvidenceFile): Entry[] {
    return receipts.map((r) => parseEntry(r.bytes));
  }

  // own refuses an answer that misstates the time of its entry, and an entry that another identity
  // or an earlier request made. It accepts a repeat only if an earlier try of this request may have
  // been carried out.
  own({ entry, index }: Proved, says: Said, when: Asked, answer: string): void {
    const done = new Date(entry.time).toISOString();
    if (says.time !== done) throw fault("its time is not the one in the ledger", answer);
    if (!says.repeated && index < when.since)
      throw fault("the request was answered before, and the answer does not say so", answer);
    if (says.repeated && !when.again && !when.tries.open)
      throw fault(`it was done at ${done}, before this client asked for it`, answer);
    const { identity, credential } = entry;
    if (this.identity !== undefined && identity !== this.identity)
      throw fault(`it was done by ${identity}, and not by ${this.identity}`, answer);
    if (this.identity === undefined && this.credential && credential !== this.credential)
      throw fault(`it was done with ${credential}, and not with this client's token`, answer);
    if (entry.time < when.first - CLOCK_SKEW)
      throw fault(`it was done at ${done}, before this client asked for it`, answer);
    if (this.identity === undefined && credential === this.credential) this.identity = identity;
  }
}

// Tables keeps the newest commit of each table. Serials have no gaps, and each commit names the one before.
class Tables {
  private newest = new Map<string, { serial: number; id: number }>();

  // add keeps a commit if it is the newest of its table. It gives what contradicts the one known before, or "".
  add(id: number, { serial, previous, context: { table } }: Commit): string {
    const known = this.newest.get(table);
    if (previous >= id) return "it names a commit before it that is none";
    if (known && ((serial === known.serial && id === known.id) || (serial < known.serial && id < known.id))) return "";
    const follows =
      !known || (serial > known.serial + 1 && previous > known.id) || (serial === known.serial + 1 && previous === known.id);
    if (!follows)
      return `it is serial ${serial} after entry ${previous}, and serial ${known.serial} is entry ${known.id}`;
    if (this.newest.size >= 4096) this.newest.clear();
    this.newest.set(table, { serial, id });
    return "";
  }
}

export const mistake = (sentence: string) => new ShuffledError("caller", sentence);

const unhex = (text: string) => Uint8Array.from(text.match(/../g)!, (b) => parseInt(b, 16));

function trusted(c: Config): [NoteKey[], boolean] {
  try {
    if (c.vkey !== undefined) return [[readLogKey(c.vkey.trim())], false];
    const p = readPolicy(c.policy!);
    if (p.logs.length === 0) throw mistake("the policy has no log line with the ledger's key");
    const other = p.logs.find((key) => key.name !== p.logs[0]!.name);
    if (other)
      throw mistake(`the policy has keys of ${p.logs[0]!.name} and of ${other.name}, and a client is of one ledger`);
    if (p.quorum?.d === 0) throw mistake("the policy proves nothing: two of its quorums share no witness");
    return [p.logs, p.quorum !== null];
  } catch (e) {
    throw e instanceof ShuffledError ? e : mistake(`what is pinned: ${(e as Error).message}`);
  }
}

// withoutQuorum gives a policy with the same log lines and without witnesses.
const withoutQuorum = (policy: string) =>
  `${policy
    .split("\n")
    .filter((line) => /^[\t ]*log[\t ]/.test(line))
    .join("\n")}\nquorum none\n`;
