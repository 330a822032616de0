// A shuffle or draw whose commit was proved, with what the client saw of it since.
import { signedRound } from "../verify/beacon.ts";
import { equal, fromBase64 } from "../verify/bytes.ts";
import { BEACON, CARDS, CUT, NUMBERS, PUBLIC, TAPE, SEALED } from "../verify/codes.ts";
import { numbers, positions, ranges, recompute, tapeLength } from "../verify/draws.ts";
import { mixSeed, mixValue, mixedPlaces, shifts } from "../verify/mix.ts";
import { commitment, deckRoot, opens, salts } from "../verify/openings.ts";
import type { Bytes, Commit, Context, Mix, ShownCard, Tape } from "../verify/types.ts";
import type { Card, Shuffle } from "./api.gen.ts";

export interface Opened {
  place: number;
  position: number;
  value: number;
  salt: Bytes;
  proof: Bytes;
}

// openingOf reads the opening of a card, null if the salt or a hash of the proof is not 32 bytes in base64.
export function openingOf(card: Card): Opened | null {
  const salt = hash(card.salt),
    proof = card.proof.map(hash);
  if (salt === null || proof.includes(null)) return null;
  const all = new Uint8Array(32 * proof.length);
  proof.forEach((h, i) => all.set(h!, 32 * i));
  return { place: card.place, position: card.position, value: card.value, salt, proof: all };
}

export function hash(text: string): Bytes | null {
  const b = typeof text === "string" ? fromBase64(text) : null;
  return b?.length === 32 ? b : null;
}

// Committed can be used by several calls at the same time.
export class Committed {
  readonly id: number;
  readonly table: string;
  readonly serial: number;
  readonly commitment: string;
  readonly deckRoot: string;
  readonly closeBy: Date;
  readonly receipt: string;
  readonly committedAt: Date;
  readonly owner: string; // the identity that committed
  readonly gameRef: string;
  readonly repeated: boolean;
  readonly places: number; // how many cards can be dealt
  // What follows is internal to the client.
  readonly context: Context;
  deck: string[] | undefined; // the names of the cards, once known
  order: number[] | null = null; // the position of each place, once the mix is known
  shift: number[] | null = null; // of draws: what the mix adds at each position
  mix: Mix | null = null;
  upTo = 0;
  values = new Map<number, number>(); // by committed position
  at = new Map<number, number>(); // of cards: the position of each value
  cards = new Map<number, ShownCard>(); // by place
  before: number; // the place of the cut card is above before, and not above after
  after: number;
  seen = 0; // size of a checkpoint over the commit that the quorum cosigned; 0: none
  seenAt = 0; // when its last witness did, in milliseconds
  early = false; // the quorum cosigned the commit before the first mix or deal
  all: number[] | null = null; // the value of each position, once the tape is disclosed
  parent: number[] | null = null; // of a child: the values of the parent's positions that it took, once known
  barred = new Set<number>(); // of a child: values that the parent dealt from other positions

  constructor(
    a: Shuffle,
    readonly commit: Commit,
    readonly entry: Bytes,
    readonly leaf: Bytes,
    readonly time: number,
    identity: string,
  ) {
    this.id = a.id;
    this.table = a.table;
    this.serial = a.serial;
    this.commitment = a.commitment;
    this.deckRoot = a.deck_root;
    this.closeBy = new Date(commit.close_by);
    this.receipt = a.receipt;
    this.committedAt = new Date(time);
    this.owner = identity;
    this.gameRef = commit.game_reference;
    this.repeated = a.repeated === true;
    this.context = commit.context;
    this.places = positions(commit.context);
    const { form, place, lo, hi } = this.context.end_at,
      n = this.places;
    [this.before, this.after] = form === 2 ? [lo! - 1, hi!] : form === 1 ? [place! - 1, place!] : [n, n + 1];
    if (this.context.plan.length === 0) this.order = Array.from({ length: n }, (_, i) => i);
  }

  get isDraw(): boolean {
    return this.context.kind !== CARDS;
  }

  // dealt gives the opened cards that this client knows, by place: those that were dealt when the
  // shuffle was loaded, and those of its own deals since. Burns and discards that open nothing are
  // not in it.
  dealt(): ShownCard[] {
    return [...this.cards.values()].sort((a, b) => a.place - b.place);
  }

  // next gives the next place to deal, as far as this client knows.
  next(): number {
    return this.upTo;
  }

  // positions gives the committed positions, except those that the given places show. These are the
  // positions for a child.
  positions(...without: number[]): number[] {
    const out = new Set(
      without.map((place) => {
        const p = this.order?.[place];
        if (p === undefined) throw new TypeError(`shuffle ${this.id} shows nothing at place ${place}`);
        return p;
      }),
    );
    return Array.from({ length: this.places }, (_, p) => p).filter((p) => !out.has(p));
  }

  during(index: number, time: number, overdue: boolean): boolean {
    return index > this.id && time >= this.time && (overdue || time < this.commit.close_by);
  }

  // takeMix keeps a mix whose values fit the plan. It gives what is wrong with the beacon's value, or "".
  async takeMix(mix: Mix): Promise<string> {
    const planned = this.context.plan.find((p) => p.source === BEACON);
    if (planned && !(await signedRound(planned.round!, mixValue(mix.values, BEACON)!.value!)))
      return "the beacon's value is not the signature of its round";
    const seed = mixSeed(this.entry, mix.values);
    if (this.isDraw) {
      this.shift = await shifts(seed, ranges(this.context));
      this.order = Array.from({ length: this.places }, (_, i) => i);
    } else {
      this.order = await mixedPlaces(seed, this.places, mixValue(mix.values, CUT)?.cut ?? 0);
    }
    this.mix = mix;
    return "";
  }

  // cut keeps whether the cut card has come out when next is the next place. It gives false if that
  // contradicts the commit or an earlier answer.
  cut(next: number, out: boolean): boolean {
    const before = out ? this.before : Math.max(this.before, next),
      after = out ? Math.min(this.after, next) : this.after;
    if (before >= after) return false;
    this.before = before;
    this.after = after;
    return true;
  }

  // open checks a card and keeps its value. It gives what is wrong with the card, or "".
  open(o: Opened): string {
    const { place, position, value } = o;
    if (this.order === null) return "a card was dealt before the mix";
    if (!(place >= 0 && place < this.places)) return `there is no place ${place}`;
    if (this.order[place] !== position)
      return `place ${place} shows position ${position}, and it is position ${this.order[place]}`;
    if (
      !Number.isInteger(value) ||
      value < 0 ||
      value >= 2 ** 32 ||
      !opens(this.commit.tag, this.commit.deck_root, this.places, o)
    )
      return `the card at place ${place} does not open the deck root`;
    if (this.isDraw) {
      const k = ranges(this.context)[position]!;
      if (value < 1 || value > k) return `place ${place} holds ${value} of 1 to ${k}`;
    } else {
      const what = this.fits(place, position, value);
      if (what) return what;
    }
    this.values.set(position, value);
    this.upTo = Math.max(this.upTo, place + 1);
    return "";
  }

  // fits gives the reason why a card cannot be right although it opens the deck root, or "".
  private fits(place: number, position: number, value: number): string {
    const at = this.at.get(value);
    if (at !== undefined && at !== position) return `the card at place ${place} was dealt before`;
    if (!this.context.parent && value >= this.context.n) return `the card at place ${place} is none of the deck`;
    if (this.barred.has(value) || (this.parent && !this.parent.includes(value)))
      return `the card at place ${place} is none that the parent gave`;
    this.at.set(value, position);
    return "";
  }

  // shows gives what drawn values show. It gives null if a number depends on an earlier draw that is not known (SPEC
  // 2.5).
  shows(opened: Opened[]): number[] | null {
    if (this.context.kind !== NUMBERS) {
      const ks = ranges(this.context);
      return opened.map(({ position: p, value }) => 1 + ((value - 1 + (this.shift?.[p] ?? 0)) % ks[p]!));
    }
    const given = new Map([...this.values, ...opened.map((o): [number, number] => [o.position, o.value])]);
    const end = Math.max(0, ...opened.map((o) => o.position + 1)),
      ks = ranges(this.context),
      draws: number[] = [];
    for (let p = 0; p < end; p++) {
      const value = given.get(p);
      if (value === undefined) return null;
      draws.push(1 + ((value - 1 + (this.shift?.[p] ?? 0)) % ks[p]!));
    }
    const taken = numbers(draws);
    return opened.map((o) => taken[o.position]!);
  }

  // disclosed checks what a close or disclosure discloses. It gives what is wrong with it, or "".
  async disclosed({ form, tape }: Tape): Promise<string> {
    if (form !== (this.context.disclosure === PUBLIC ? TAPE : SEALED))
      return "the tape is not disclosed as the commit declared";
    return form === TAPE ? this.finish(tape!) : "";
  }

  // finish compares a disclosed tape with the commit and with the cards that were shown. For a
  // child whose parent's cards are not all known, it does not compare the order.
  private async finish(tape: Bytes): Promise<string> {
    const { context: c, commit } = this,
      other = "the tape is not the one committed to";
    if (!equal(commitment(commit.contextBytes, tape), commit.commitment) || tape.length !== tapeLength(ranges(c)))
      return other;
    const again = recompute(c, tape);
    if (again === null) return other;
    if (again.endAt !== undefined && (again.endAt <= this.before || again.endAt > this.after))
      return `the cut card lay at place ${again.endAt}, and it was told otherwise`;
    if (c.parent && !this.parent) return "";
    const values = c.parent ? again.values.map((x) => this.parent![x]!) : again.values;
    if (!equal(deckRoot(commit.tag, values, await salts(commit.commitment, tape, this.places)), commit.deck_root))
      return "the tape leads to another order than the one committed to";
    for (const [p, value] of this.values)
      if (values[p] !== value) return `the tape has another card at position ${p} than was dealt`;
    this.all = values;
    return "";
  }

  // inherit keeps what is known of a parent's cards: all if its tape was disclosed, else those that
  // it dealt and that are not in the child.
  inherit(parent: Committed): void {
    this.deck ??= parent.deck;
    const taken = this.context.parent!.positions;
    if (parent.all) this.parent = taken.map((p) => parent.all![p]!);
    else {
      const dealt = [...parent.values].filter(([p]) => !taken.includes(p)).map(([, value]) => value);
      this.barred = new Set([...parent.barred, ...dealt]);
    }
  }
}
