// The client for a game's back end. It checks the evidence of every command's answer with the
// pinned key: that the commit is what was asked for, that each card opens the deck root at the
// position that the public mix gives, and that the ledger extends what was seen of it before.
//
// Every call is safe to repeat. The client repeats it, with growing pauses, if the daemon asks for
// that or no answer came. docs/CLIENT.md says what is proved, and what is not.
import { equal } from "../verify/bytes.ts";
import { told } from "../verify/codes.ts";
import type {
  BoundTerms,
  Close,
  CloseRequest,
  Deal,
  DealRequest,
  DrawsRequest,
  Mix,
  MixRequest,
  Reveal,
  RevealRequest,
  Shuffle,
  ShuffleList,
  ShuffleRequest,
  ShuffleSummary,
  Takeover,
  TakeoverRequest,
  TermsDocument,
  Event,
} from "./api.gen.ts";
import { Batch, type Done, type Step } from "./batch.ts";
import type { Committed } from "./committed.ts";
import { fault } from "./errors.ts";
import { answered, believed, early, evidence, learn, loaded, notWitnessed, restore, type Status } from "./evidence.ts";
import { events } from "./events.ts";
import { Ledger, mistake, type Asked, type CallOptions, type Config, type Proved } from "./ledger.ts";
import { acted, inherit, proveClose, proveCommit, proveDeal, proveMix, proveReveal, says } from "./proofs.ts";
import { pause, sleep } from "./send.ts";
import { putTerms, read } from "./shown.ts";
import { deckOf, differs } from "./wanted.ts";

export interface ListParams {
  table?: string;
  serial?: number;
  game_ref?: string;
  owner?: string; // the identity that committed
  deck?: string;
  outcome?: ShuffleSummary["outcome"];
  reason?: ShuffleSummary["reason"];
  from?: string;
  to?: string;
  state?: "open" | "closed";
  cursor?: string;
  limit?: number;
}

// NAMED are the parameters that each shuffle of a list must have as they were given.
const NAMED = ["table", "serial", "game_ref", "owner", "deck", "outcome", "reason"] as const;

// fits tells whether a shuffle of a list is one that was asked for, and does not contradict itself.
function fits(s: ShuffleSummary, p: ListParams): boolean {
  const closed = s.state === "closed" || s.state === "continued",
    at = Date.parse(s.committed_at);
  return (
    NAMED.every((name) => p[name] === undefined || s[name] === p[name]) &&
    (p.state === undefined || closed === (p.state === "closed")) &&
    (p.from === undefined || at >= Date.parse(p.from)) &&
    (p.to === undefined || at < Date.parse(p.to)) &&
    closed === (s.closed_at !== undefined) &&
    closed === (s.outcome !== undefined) &&
    (s.state !== "continued" || s.outcome === "continued") &&
    (s.reason !== undefined) === (s.outcome === "void")
  );
}

export class Client {
  readonly ledger: Ledger;

  constructor(config: Config) {
    this.ledger = new Ledger(config);
  }

  // origin is the origin of the ledger, which is the name in the pinned keys.
  get origin(): string {
    return this.ledger.origin;
  }

  // commit asks for a shuffle. The same key and request always give the same shuffle. If the
  // request has a parent, commit loads that first; a caller that still has the parent calls child.
  async commit(key: string, request: ShuffleRequest, o?: CallOptions): Promise<Committed> {
    return (await this.do({ key, shuffle: request }, o)).shuffle!;
  }

  // child shuffles undealt cards of an open shuffle again. The same command closes that shuffle, as
  // continued.
  async child(key: string, parent: Committed, request: ShuffleRequest, o?: CallOptions): Promise<Committed> {
    const asked = { ...request, parent: request.parent ?? { id: parent.id } };
    if (asked.parent.id !== parent.id) throw mistake("the request names another parent");
    return (await this.do({ key, shuffle: asked, of: parent }, o)).shuffle!;
  }

  // draws asks for drawn values, like commit for cards.
  async draws(key: string, request: DrawsRequest, o?: CallOptions): Promise<Committed> {
    return (await this.do({ key, draw: request }, o)).shuffle!;
  }

  // putTerms lets the daemon keep a document that says what values mean. A request for draws names
  // what it gives.
  putTerms(document: TermsDocument, o?: CallOptions): Promise<BoundTerms> {
    return putTerms(this.ledger, document, o);
  }

  async mix(s: Committed, request: MixRequest, o?: CallOptions): Promise<Mix> {
    return (await this.do({ of: s, mix: request }, o)).mix!;
  }
  async deal(s: Committed, request: DealRequest, o?: CallOptions): Promise<Deal> {
    return (await this.do({ of: s, deal: request }, o)).deal!;
  }
  async reveal(s: Committed, request: RevealRequest, o?: CallOptions): Promise<Reveal> {
    return (await this.do({ of: s, reveal: request }, o)).reveal!;
  }
  async close(s: Committed, request: CloseRequest, o?: CallOptions): Promise<Close> {
    return (await this.do({ of: s, close: request }, o)).close!;
  }

  // takeOver makes this client's identity the owner of another identity's shuffle.
  async takeOver(s: Committed, request: TakeoverRequest, o?: CallOptions): Promise<Takeover> {
    const when = await this.ledger.command(o);
    const answer = await this.ledger.send(
      { method: "POST", path: `/shuffles/${s.id}/takeover`, body: request, signal: o?.signal },
      when.tries,
    );
    return answered(answer, async () => {
      const t = read<Takeover>(answer),
        repeated = t.repeated === true;
      // The daemon repeats this answer for as long as the takeover is in force.
      if (repeated) Object.assign(when, { first: Date.parse(t.time), again: true });
      await acted(
        this.ledger,
        s,
        "takeover",
        says(t),
        when,
        answer,
        (b) =>
          b.shuffle === s.id &&
          told("extent", b.extent) === "close" &&
          (repeated || b.reason === request.reason),
      );
      return t;
    });
  }

  // batch sends many steps in one request, and proves the answer to each like the single call.
  // A refused step does not stop the others, except with allOrNone. If a refused step may be tried
  // again, the whole batch is sent again. If the batch itself fails, done of the error has the
  // answers that were proved before.
  batch(steps: Step[], o: CallOptions & { allOrNone?: boolean } = {}): Promise<Done[]> {
    return new Batch(this, steps, o).run();
  }

  // receipt gives the receipt of an entry, after it was proved.
  async receipt(index: number, o?: CallOptions): Promise<string> {
    const when = await this.ledger.reading(o),
      answer = await this.ledger.send({ method: "GET", path: `/entries/${index}/receipt`, signal: o?.signal });
    await believed(answer, () => this.ledger.prove(answer, index, when, answer));
    return answer;
  }

  // transcript gives the evidence of a shuffle that this token may see, proved with the pinned key
  // or policy. With a recipient, it gives that recipient's file. Pass the text on byte for byte. If
  // the policy asks for witnesses, transcript waits until they cosigned its newest entry.
  async transcript(id: number, recipient?: string, o?: CallOptions): Promise<string> {
    return (await evidence(this.ledger, id, recipient, true, o)).text;
  }

  // load gives a shuffle that was committed earlier. It proves the commit again, and what was
  // played: dealt() gives the cards, next() the place at which the game continues.
  async load(id: number, o?: CallOptions): Promise<Committed> {
    return (await loaded(this.ledger, String(id), (t) => t.id === id, o))[0];
  }

  // loadAt is load for the shuffle with this serial at a table, or without one for the open shuffle.
  async loadAt(table: string, serial = 0, o?: CallOptions): Promise<Committed> {
    const at = `@${encodeURIComponent(table)}${serial ? `:${serial}` : ""}`;
    return (await loaded(this.ledger, at, (t) => t.table === table && (serial === 0 || t.serial === serial), o))[0];
  }

  async state(id: number, o?: CallOptions): Promise<Status> {
    return (await loaded(this.ledger, String(id), (t) => t.id === id, o))[1];
  }

  // list gives a page of the shuffles that match. It is the daemon's word and proves nothing.
  async list(params: ListParams = {}, o?: CallOptions): Promise<ShuffleList> {
    return read<ShuffleList>(
      await this.ledger.send({ method: "GET", path: "/shuffles", query: { ...params }, signal: o?.signal }),
    );
  }

  // shuffles goes through all pages of a list.
  async *shuffles(params: ListParams = {}, o?: CallOptions): AsyncGenerator<ShuffleSummary> {
    for (let cursor = params.cursor, last = 0; ; ) {
      const page = await this.list({ ...params, ...(cursor !== undefined && { cursor }) }, o);
      for (const one of page.shuffles) {
        if (!(one.id > last) || !fits(one, params))
          throw fault("it is out of order, or was not asked for", JSON.stringify(page));
        last = one.id;
        yield one;
      }
      if (page.next === undefined) return;
      if (page.next === cursor) throw fault("the page after a page is the same page", JSON.stringify(page));
      cursor = page.next;
    }
  }

  // events gives the events of the ledger: those after the entry with the index after, or without
  // it those from now on. The signal or the caller ends it. If the connection is lost, it continues
  // after the last event. Events are the daemon's word and prove nothing.
  events(o: { after?: number; signal?: AbortSignal } = {}): AsyncGenerator<Event> {
    return events(this.ledger, o);
  }

  // check proves that the newest checkpoint extends all others that were accepted. The client does
  // it by itself before a call, also one that reads, if many checkpoints wait for it, and for an answer about the past.
  check(): Promise<void> {
    return this.ledger.log.check();
  }

  // witnessed waits until the policy's quorum cosigned a checkpoint that covers the commit. Without
  // a policy that asks for witnesses it does not wait. mix, deal and reveal do this by themselves.
  async witnessed(s: Committed, o?: CallOptions): Promise<void> {
    if (s.seen > 0 || s.early || !this.ledger.asks) return;
    for (let attempt = 1; ; attempt++) {
      const answer = await this.ledger.send({ method: "GET", path: `/entries/${s.id}/receipt`, signal: o?.signal });
      const e = await believed(answer, async () =>
        this.ledger.prove(answer, s.id, { ...(await this.ledger.reading()), since: 0 }, answer),
      );
      if (!equal(e.leaf, s.leaf)) throw fault("the receipt is of another commit", answer);
      const at = await this.ledger.witnessed(answer);
      if (at !== null) {
        s.seen = e.size;
        s.seenAt = at;
        return;
      }
      if (attempt === this.ledger.config.attempts) throw notWitnessed(`the commit of shuffle ${s.id}`);
      await sleep(pause(this.ledger.config, attempt), o?.signal);
    }
  }

  // ready prepares a step, if its shuffle is known already. It is internal.
  async ready(step: Step, o?: CallOptions): Promise<void> {
    if (step.shuffle?.parent && !step.of) step.of = await this.load(step.shuffle.parent.id, o);
    const s = step.of;
    if (!s || step.shuffle) return;
    if (step.mix || step.deal || step.reveal) await this.witnessed(s, o);
    if (step.deal || step.reveal || step.close?.reveal?.length) await learn(this.ledger, s, o);
  }

  // prove proves the answer to a step. s is the step's shuffle, for a commit its parent. It is
  // internal.
  prove(step: Step, s: Committed | undefined, when: Asked, answer: string): Promise<Done> {
    return answered(answer, async () => {
      if (step.shuffle || step.draw) return { shuffle: await this.asked(step, s, when, answer) };
      const shuffle = s!,
        l = this.ledger,
        done: Done = { shuffle };
      let e: Proved | undefined,
        first = true;
      if (step.mix) {
        e = await proveMix(l, shuffle, step.mix, (done.mix = read<Mix>(answer)), when, answer);
      } else if (step.deal) {
        first = step.deal.first === 0 && shuffle.context.plan.length === 0;
        if (step.from !== undefined) await learn(this.ledger, shuffle);
        e = await proveDeal(l, shuffle, step.deal, (done.deal = read<Deal>(answer)), when, answer);
      } else if (step.reveal) {
        await proveReveal(
          l,
          shuffle,
          { places: step.reveal.places, final: false, exposed: step.reveal.exposed ?? false },
          (done.reveal = read<Reveal>(answer)),
          null,
          when,
          answer,
        );
      } else {
        await proveClose(l, shuffle, step.close!, (done.close = read<Close>(answer)), null, when, answer);
      }
      if (e) await early(this.ledger, shuffle, e, first);
      return done;
    });
  }

  private async do(step: Step, o?: CallOptions): Promise<Done> {
    const l = this.ledger;
    if (l.log.waits) await this.check();
    await this.ready(step, o);
    const when = await l.command(o, step.key);
    return this.prove(step, step.of, when, await l.send({ ...requestOf(step), signal: o?.signal }, when.tries));
  }

  // asked proves the answer to a commit or draw of this client.
  private async asked(step: Step, parent: Committed | undefined, when: Asked, answer: string): Promise<Committed> {
    const a = read<Shuffle>(answer),
      request = (step.shuffle ?? step.draw)!,
      [s, e] = await proveCommit(this.ledger, a, when, answer);
    this.ledger.own(e, says(a, a.id), when, answer);
    // Others dealt on, the commit says: the transcript shows whether they did.
    const left = s.context.parent?.positions.length;
    if (parent && !step.shuffle?.parent?.positions && left !== parent.places - parent.next())
      await restore(this.ledger, parent);
    const what = differs(s, step.key!, request, parent);
    if (what) throw fault(what, answer);
    s.deck = deckOf(request);
    if (parent) await inherit(this.ledger, s, parent);
    return s;
  }
}

export function requestOf(step: Step): { method: "POST"; path: string; key?: string; body: unknown } {
  if (step.shuffle) return { method: "POST", path: "/shuffles", key: step.key!, body: step.shuffle };
  if (step.draw) return { method: "POST", path: "/draws", key: step.key!, body: step.draw };
  const [op, body] = opOf(step);
  return { method: "POST", path: `/shuffles/${step.of!.id}/${op}`, body };
}

// opOf gives the name of a step's operation and its request.
export function opOf(step: Step): [string, object] {
  const found = (["shuffle", "draw", "mix", "deal", "reveal", "close"] as const).filter((op) => step[op] !== undefined);
  if (found.length !== 1) throw mistake("a step has one request");
  return [found[0]!, step[found[0]!]!];
}
