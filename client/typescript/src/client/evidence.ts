// What is known of a shuffle from its evidence: transcripts, and loaded shuffles.
import { equal, toBase64, utf8 } from "../verify/bytes.ts";
import { CONTINUED } from "../verify/codes.ts";
import { WITNESS_GRACE } from "../verify/level.ts";
import { deckHash } from "../verify/terms.ts";
import { readTranscript } from "../verify/transcript.ts";
import type { Tape, Verdict } from "../verify/types.ts";
import type { ShuffleState } from "./api.gen.ts";
import type { Committed, Opened } from "./committed.ts";
import { ShuffledError, fault, unresolved } from "./errors.ts";
import type { CallOptions, Ledger, Proved } from "./ledger.ts";
import { proveCommit } from "./proofs.ts";
import { pause, sleep } from "./send.ts";
import { read } from "./shown.ts";

// Status is the state of a shuffle. Owner, next place, mix and end are read from a proved
// transcript; that nothing followed is the daemon's word, and so is last_hand.
export type Status = ShuffleState;

// learn takes the mix and the names of the deck from a proved transcript, if another
// client made them.
export async function learn(l: Ledger, s: Committed, o?: CallOptions): Promise<void> {
  if (s.order !== null && (s.isDraw || s.deck)) return;
  await restore(l, s, o);
}

// early checks that the quorum cosigned the commit before the first mix or deal. e is the entry of a mix or deal; first
// says whether it is the first one. If others began, or a witness was late, a transcript shows it.
export async function early(l: Ledger, s: Committed, { index, entry }: Proved, first: boolean): Promise<void> {
  if (first && s.seen > 0 && s.seen <= index && s.seenAt <= entry.time + WITNESS_GRACE) s.early = true;
  if (s.early || !l.asks) return;
  const { text, verdict: v } = await evidence(l, s.id, undefined, true);
  const file = readTranscript(utf8.encode(text));
  if (!file.receipts.some((r) => r.index === index) || v.commitment !== s.commitment)
    throw fault("the transcript lacks what was answered before", text);
  if (v.level !== "witnessed" && v.level !== "mixed")
    throw new ShuffledError("not_witnessed", `shuffle ${s.id} was played before its witnesses saw it`);
  s.early = true;
}

export async function evidence(
  l: Ledger,
  id: number,
  recipient: string | undefined,
  all: boolean,
  o?: CallOptions,
): Promise<{ text: string; verdict: Verdict }> {
  for (let attempt = 1; ; attempt++) {
    const when = await l.reading(o),
      text = await l.send({
        method: "GET",
        path: `/shuffles/${id}/transcript`,
        query: { recipient },
        signal: o?.signal,
      });
    const verdict = await l.evidence(text, all);
    if (all && l.asks && verdict.verdict === "failed" && verdict.failed === "witnesses") {
      if (attempt === l.config.attempts) throw notWitnessed(`the transcript of shuffle ${id}`);
      await sleep(pause(l.config, attempt), o?.signal);
      continue;
    }
    if (verdict.verdict !== "proved")
      throw fault(`the transcript is ${verdict.verdict} at ${verdict.failed ?? verdict.unknown}`, text);
    if (verdict.id !== id || verdict.recipient !== recipient) throw fault("the transcript is another one", text);
    await l.holdTranscript(text, when);
    return { text, verdict };
  }
}

// restore takes from a proved transcript what was played of a shuffle.
export async function restore(l: Ledger, s: Committed, o?: CallOptions): Promise<Verdict> {
  const { text, verdict: v } = await evidence(l, s.id, undefined, false, o);
  if (v.commitment !== s.commitment) throw fault("the transcript is of another commit", text);
  const file = readTranscript(utf8.encode(text)),
    mix = l.entriesOf(file).find((e) => e.mix)?.mix;
  const wrong = mix && (await s.takeMix(mix));
  if (wrong) throw fault(wrong, text);
  for (const card of file.cards) {
    const what = s.open(card as Opened);
    if (what) throw fault(what, text);
  }
  s.upTo = Math.max(s.upTo, v.next ?? 0);
  for (const card of v.cards ?? []) s.cards.set(card.place, card);
  if (file.deck && s.context.deck_hash && equal(deckHash(file.deck), s.context.deck_hash)) s.deck = file.deck;
  let tape: Tape | undefined;
  for (const { close, disclosure } of l.entriesOf(file))
    tape = disclosure ?? (close && close.outcome !== CONTINUED ? close : tape);
  const what = tape?.tape ? await s.disclosed(tape) : "";
  if (what) throw fault(what, text);
  return v;
}

export async function loaded(
  l: Ledger,
  at: string,
  is: (t: ShuffleState) => boolean,
  o?: CallOptions,
): Promise<[Committed, Status]> {
  const when = await l.reading(o),
    answer = await l.send({ method: "GET", path: `/shuffles/${at}`, signal: o?.signal });
  return believed(answer, async () => {
    const t = read<ShuffleState>(answer);
    if (!is(t)) throw fault("it is of another shuffle", answer);
    const [s] = await proveCommit(l, { ...t, time: "" }, when, answer);
    const untouched =
      t.next === 0 && !t.mixed && t.closed_at === undefined && t.owner === s.owner && t.extent === undefined;
    const v = untouched ? undefined : await restore(l, s, o);
    return [s, statusOf(s, t, v, answer)];
  });
}
// statusOf gives the state that a transcript proves. It must be at least as new as the state t,
// which the daemon told before.
function statusOf(s: Committed, t: ShuffleState, v: Verdict | undefined, answer: string): Status {
  const next = v?.next ?? 0,
    last = v?.takeovers?.at(-1);
  if (!Number.isInteger(t.next) || t.next < 0 || t.next > next)
    throw fault("other places were dealt than the ledger shows", answer);
  if (!s.cut(t.next, t.last_hand === true))
    throw fault("the cut card has not come out, or has and was not told", answer);
  const open = v?.closed_at === undefined,
    overdue = open && Date.now() > s.closeBy.getTime();
  const out: Status = {
    id: s.id,
    table: s.table,
    serial: s.serial,
    commitment: s.commitment,
    deck_root: toBase64(s.commit.deck_root),
    close_by: s.closeBy.toISOString(),
    receipt: s.receipt,
    owner: last?.identity ?? s.owner,
    next,
    state: overdue ? "overdue" : (v?.state ?? "open"),
  };
  if (last?.extent === "close") out.extent = "close";
  if (s.context.plan.length > 0) out.mixed = s.mix !== null;
  const came = next >= s.after;
  if (s.context.end_at.form !== 0 && (came || next <= s.before)) out.last_hand = came;
  if (!open)
    Object.assign(out, {
      closed_at: v!.closed_at,
      outcome: v!.outcome,
      ...(v!.reason !== undefined && { reason: v!.reason }),
    });
  return out;
}

export const notWitnessed = (what: string) =>
  new ShuffledError("not_witnessed", `${what}: the policy's quorum has not cosigned it`);

// believed turns any other error of prove into a fault: a member of the answer is then missing or
// of a wrong type.
export async function believed<T>(answer: string, prove: () => Promise<T>): Promise<T> {
  try {
    return await prove();
  } catch (e) {
    if (e instanceof ShuffledError || e instanceof DOMException) throw e; // a DOMException is from the caller's signal
    throw fault("it is not what the contract says", answer, { cause: e });
  }
}

// answered is believed for the answer to a command. The command was done, so an error that says nothing of the answer,
// such as that of a further call or of the State, leaves open what became of it.
export async function answered<T>(answer: string, prove: () => Promise<T>): Promise<T> {
  try {
    return await believed(answer, prove);
  } catch (e) {
    if (e instanceof ShuffledError && (e.code === "fault" || e.code === "not_witnessed")) throw e;
    throw unresolved(e);
  }
}
