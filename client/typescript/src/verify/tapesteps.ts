// The steps tape, order, cards and statements (10.1).
import { equal } from "./bytes.ts";
import { CARDS, NO_TAPE, SEALED } from "./codes.ts";
import { canEd25519 } from "./curves.ts";
import { positions, recompute } from "./draws.ts";
import { Fault } from "./errors.ts";
import { signed } from "./ledgersteps.ts";
import { commitment, deckRoot, salts } from "./openings.ts";
import { many, skip, type Outcome } from "./step.ts";
import { leafOf } from "./tree.ts";
import type { Stated, Whole } from "./types.ts";

const noTape = (s: Whole): string | null => !s.close ? "the shuffle is open, its tape still secret"
  : !s.disclosed ? "the game went on with its cards, and its tape stays secret until the last shuffle of them is closed"
  : s.disclosed.form === SEALED ? "the tape is sealed to the auditors: that the deck held each card once is for them to see, and this file does not show it" : null;

export function stepTape(s: Whole): Outcome {
  const why = noTape(s), c = s.disclosed;
  if (why !== null) return skip(why);
  if (!c?.tape) throw new Fault("the operator has lost the tape", "the operator lost or hides the tape: this shuffle can never be recomputed");
  const made = commitment(s.commit.entry.commit.contextBytes, c.tape);
  if (!equal(made, s.commit.entry.commit.commitment)) throw new Fault("the tape does not open the commitment");
  return `${many(c.tape.length, "byte")} open the commitment`;
}

export async function stepOrder(s: Whole): Promise<Outcome> {
  const why = noTape(s);
  if (why !== null) return skip(why);
  const { commitment: made, deck_root, tag } = s.commit.entry.commit, tape = s.disclosed!.tape!;
  const again = recompute(s.context, tape);
  if (again === null) throw new Fault("the tape runs out", "the generator is broken, or the tape was made up");
  if (again.endAt !== undefined) s.endAt = again.endAt;
  if (s.context.parent) return skip("a child's cards are its parent's, which this file does not hold");
  const m = positions(s.context);
  if (!equal(deckRoot(tag, again.values, await salts(made, tape, m)), deck_root))
    throw new Fault("shuffled again from the tape, the cards do not lead to the deck root");
  s.values = again.values;
  return `${many(m, s.context.kind === CARDS ? "card" : "draw")} from the tape lead to the deck root`;
}

export function stepCards(s: Whole): Outcome {
  const why = noTape(s);
  if (why !== null) return skip(why);
  if (!s.values) return skip("a child's cards are its parent's, which this file does not hold");
  for (const card of s.file.cards) {
    if (card.value !== s.values[card.position]) throw new Fault(`place ${card.place}: the tape gives another card`);
  }
  return `${many(s.file.cards.length, "card")} as the tape gives them`;
}

// stepStatements compares the statements of auditors with this file. A statement of an auditor who
// is not trusted gives nothing, but it must be about this shuffle.
export async function stepStatements(s: Whole): Promise<Outcome> {
  const { statements, checkpoint, id } = s.file;
  if (statements.length === 0) return skip("the file holds no statement of an auditor");
  if (!s.disclosed || s.disclosed.form === NO_TAPE) throw new Fault("a statement, and no entry of the file holds a tape that it could be about");
  const commit = leafOf(s.commit.bytes), tape = leafOf(s.file.receipts.at(-1)!.bytes);
  const stated: Stated[] = [];
  for (const [i, x] of statements.entries()) {
    if (x.origin !== checkpoint.origin || x.id !== id || !equal(x.commit, commit) || !equal(x.tape, tape))
      throw new Fault(`statement ${i} is about shuffle ${x.id} of ${x.origin}, and not about this commit and tape`);
    for (const { name, id: of } of x.signatures) {
      const keys = s.trust.auditors.filter((key) => key.name === name && key.id === of);
      if (keys.length > 0 && !await canEd25519()) { s.cannot = "Ed25519"; return skip("this browser cannot check Ed25519 signatures"); }
      let trusted = false;
      for (const key of keys) trusted ||= await signed(x, key);
      if (keys.length > 0 && !trusted) throw new Fault(`the signature of ${name}, an auditor who is trusted, does not hold`);
      stated.push({ name, trusted });
    }
  }
  s.stated = stated;
  const believed = stated.filter((x) => x.trusted).length;
  if (believed === 0) return skip("no statement is signed by an auditor’s key that is trusted");
  return `${believed} of ${many(stated.length, "signature")} are of auditors who are trusted: each opened the tape, and it leads to the deck root`;
}
