// The steps signature, inclusion, witnesses, origin, slots and beacon (10.1).
import { isQuicknet, roundTime, signedRound } from "./beacon.ts";
import { equal, join, time, toBase64, utf8 } from "./bytes.ts";
import { BEACON, SLOT } from "./codes.ts";
import { bigEndian, canEd25519, ed25519, strongKey } from "./curves.ts";
import { Fault, Unknown } from "./errors.ts";
import { ED25519, ML_DSA, noteKey } from "./keys.ts";
import { mixValue, slotHash } from "./mix.ts";
import { MLDSA_SIGNATURE, cosignedMessage, mldsa } from "./mldsa.ts";
import { isMet } from "./policy.ts";
import { sha256 } from "./sha256.ts";
import { many, skip, type Outcome } from "./step.ts";
import { begins, climb, leafOf, type Made } from "./tree.ts";
import type { Bytes, Checkpoint, EvidenceFile, Genesis, Node, Note, NoteKey, Of, State, Whole, Witness } from "./types.ts";

// checkpoints gives the checkpoint of the receipts, and that of witnessed if there is one.
export const checkpoints = ({ checkpoint, witnessed }: EvidenceFile) => witnessed ? [checkpoint, witnessed.checkpoint] : [checkpoint];

export async function stepSignature(s: State): Promise<Outcome> {
  const pinned = s.trust.logs.length > 0;
  if (!pinned && !s.genesis) return skip("no key is trusted, and this entry brings none");
  const keys = pinned ? s.trust.logs : [genesisKey(s.genesis!.entry.genesis)];
  if (!await canEd25519()) { s.cannot = "Ed25519"; return skip("this browser cannot check Ed25519 signatures"); }
  const chain = await succession(s, keys), by: NoteKey[][] = [];
  for (const c of checkpoints(s.file)) {
    const signed = await signedBy(c, chain);
    if (signed === null) throw new Fault(`${many(c.size, "entry", "entries")}: no signature by ${pinned ? "a key that is trusted" : "the key of the genesis"}, of each algorithm one, or by a key of ML-DSA-44 that the file shows`);
    by.push(signed);
  }
  const c = s.file.checkpoint, first = by[0]!;
  const algorithms = first.map((k) => k.type === ML_DSA ? "ML-DSA-44" : "Ed25519").sort().join(" and ");
  return `${c.origin} with ${many(c.size, "entry", "entries")}, signed by the key ${first[0]!.id}${pinned ? "" : " that the file itself brings"}, with ${algorithms}${first.length > 1 ? "" : " alone"}`;
}

// A Succession says which keys count on a checkpoint of a ledger (10.1.1): trusted are keys of its name, shown those of
// the genesis and of keys, by index.
export interface Succession { trusted: NoteKey[]; shown: Shown[] }
interface Shown { index: number; key: NoteKey; handedOn?: boolean }

// succession begins at the genesis's key if the file shows keys. Without any it asks nothing of that key.
async function succession({ genesis, file }: State, trusted: NoteKey[]): Promise<Succession> {
  const first = genesis && file.keys.length > 0 ? [{ index: 0, key: genesisKey(genesis.entry.genesis) }] : [];
  return follow(file.keys, file.checkpoint.origin, trusted, first);
}

// follow takes the entries of signing keys in: the keys in force before an entry and those after it sign its checkpoint.
// Trust goes forwards only. It leaves out a receipt alone under a larger checkpoint, where another key may be in force.
export async function follow(entries: Of<"key">[], origin: string, trusted: NoteKey[], shown: Shown[] = []): Promise<Succession> {
  const name = shown[0]?.key.name ?? origin, keys = entries.filter((r) => r.checkpoint.size === r.index + 1);
  for (const { index, entry } of keys) {
    const key = noteKey(name, entry.key.key!);
    if (key.type !== ML_DSA && !strongKey(key.key)) throw new Fault(`entry ${index}: no Ed25519 key, or a weak one`);
    shown.push({ index, key });
  }
  const chain = { trusted: trusted.filter((k) => k.name === origin), shown };
  for (const { index, checkpoint } of keys) {
    for (const size of [index, index + 1]) {
      const by = inForce(shown, size).map((k) => k.key);
      if (by.length > 0 && !await signers(checkpoint, by)) throw new Fault(`entry ${index}: the signing key was not handed on by the keys before and after it`);
    }
    shown.find((k) => k.index === index)!.handedOn = await signedBy(checkpoint, chain) !== null;
  }
  return chain;
}

// inForce gives the newest key of each algorithm below a size, and that of the genesis at every size.
const inForce = (shown: Shown[], size: number) => [ML_DSA, ED25519]
  .flatMap((type) => shown.findLast((k, i) => k.key.type === type && (k.index < size || i === 0 && k.index === 0)) ?? []);

// counting gives the keys that count on a checkpoint of a size: those that are trusted and those that were handed on
// to, if the file does not show another key in force there. A key that is replaced signs the checkpoint that hands on.
function counting({ trusted, shown }: Succession, size: number): NoteKey[] {
  const now = [...inForce(shown, size), ...inForce(shown, size - 1)], among = (keys: Shown[], t: NoteKey) => keys.some((k) => equal(k.key.typed, t.typed));
  return [...trusted.filter((t) => among(now, t) || !among(shown, t)), ...now.filter((k) => k.handedOn).map((k) => k.key)];
}

// signedBy gives the keys that signed a checkpoint, null if a needed one did not (10.1.1). One key is needed for each
// algorithm of those that count. If none of them is of ML-DSA-44, and the file shows such a key in force, that one is
// needed as well.
export async function signedBy(c: Checkpoint, chain: Succession): Promise<NoteKey[] | null> {
  const keys = counting(chain, c.size);
  if (keys.length > 0 && !keys.some((k) => k.type === ML_DSA)) keys.push(...inForce(chain.shown, c.size).map((k) => k.key).filter((k) => k.type === ML_DSA));
  return signers(c, keys);
}

// signer gives one of the keys that signers gives.
export const signer = async (c: Checkpoint, keys: NoteKey[]): Promise<NoteKey | null> => (await signers(c, keys))?.[0] ?? null;

// signers gives the keys that signed a checkpoint, one for each algorithm among the keys with the
// name of its origin. It gives null if no key has that name, or none of an algorithm signed.
async function signers(c: Checkpoint, keys: NoteKey[]): Promise<NoteKey[] | null> {
  const by = new Map<number, NoteKey | null>();
  for (const key of keys.filter((k) => k.name === c.origin))
    if (!by.get(key.type)) by.set(key.type, await signed(c, key) ? key : null);
  const all = [...by.values()].filter((key) => key !== null);
  return all.length > 0 && all.length === by.size ? all : null;
}

// genesisKey gives the key that the genesis names. It refuses a weak key, which proves nothing.
function genesisKey(g: Genesis): NoteKey {
  if (!strongKey(g.signing_key.subarray(1))) throw new Fault("the key of the genesis is no Ed25519 key, or a weak one");
  return noteKey(g.origin, g.signing_key);
}

export async function signed(c: Note, key: NoteKey): Promise<boolean> {
  const s = c.signatures.find((x) => x.name === key.name && x.id === key.id);
  if (s === undefined) return false;
  return key.type === ML_DSA ? mldsa(key.key, s.bytes, cosignedMessage(c, key.name, s.bytes)) : ed25519(key.key, s.bytes, c.body);
}

// mustBegin refuses a checkpoint with whose tree that of the larger one does not begin.
export function mustBegin(first: Checkpoint, larger: Checkpoint, leaf: Bytes, path: Bytes): void {
  if (!begins(first, larger, leaf, path)) throw new Fault(`${larger.origin}: the checkpoint of ${many(first.size, "entry", "entries")} is of another tree than that of ${larger.size}`);
}

export function stepInclusion(s: State): Outcome {
  const { kind, receipts, witnessed, checkpoint, keys } = s.file, above: Made[] = [];
  for (const r of receipts) {
    const root = climb(leafOf(r.bytes), r.index, checkpoint.size, r.proof, above);
    if (root === null || !equal(root, checkpoint.root))
      throw new Fault(`entry ${r.index}: its proof does not lead to the root of the checkpoint`);
  }
  if (witnessed) mustBegin(witnessed.checkpoint, checkpoint, witnessed.leaf, witnessed.path);
  if (witnessed && witnessed.checkpoint.size <= s.file.id) throw new Fault("the checkpoint that witnesses saw ends in front of the commit");
  if (kind === "transcript") for (const r of keys) mustBegin(r.checkpoint, checkpoint, leafOf(r.bytes), r.proof);
  return `${many(receipts.length, "proof")} to the root of the checkpoint${witnessed ? `, which begins with the ${many(witnessed.checkpoint.size, "entry", "entries")} that witnesses saw` : ""}`;
}

export async function stepWitnesses(s: State): Promise<Outcome> {
  if (s.trust.quorum === undefined) return skip("no policy is given");
  if (s.trust.quorum === null) return skip("the policy asks for no witness");
  if (!await canEd25519()) { s.cannot = "Ed25519"; return skip("this browser cannot check Ed25519 signatures"); }
  let found = "";
  for (const c of checkpoints(s.file)) {
    c.cosigned = await cosignatures(c, s.trust.witnesses);
    c.complete = completeAt(s.trust.quorum, c.cosigned);
    const met = c.complete !== undefined;
    if (!met && c !== s.file.checkpoint) {
      s.file.witnessed!.unmet = true; // no fault: witnesses change, and readers trust different ones (10.1.2)
      return `${found}; the early one lacks the quorum, so the level stays recorded`;
    }
    found = `${c.cosigned.size} of ${many(s.trust.witnesses.length, "witness", "witnesses")} cosigned the checkpoint of ${many(c.size, "entry", "entries")}`;
    mustMeet(s.trust.quorum, s.trust.witnesses, c, c.cosigned, found);
  }
  return found;
}

// mustMeet refuses a checkpoint that the quorum did not cosign. If lines of an unknown type would make one, nobody can judge.
export function mustMeet(quorum: Node, witnesses: Witness[], c: Checkpoint, cosigned: Map<Witness, number>, found: string): void {
  const doubt = witnesses.filter((w) => w.unknown && c.signatures.some((x) => x.name === w.name && x.id === w.id));
  const meets = (all: Witness[]) => isMet(quorum, new Set(all.map((w) => w.node)));
  if (meets([...cosigned.keys()])) return;
  if (meets([...cosigned.keys(), ...doubt])) throw new Unknown(`${found}; whether that is a quorum hangs on lines of an unknown type`);
  throw new Fault(`${found}, which is no quorum`);
}

// cosignatures gives the witnesses that cosigned, each with the second at which it did.
export async function cosignatures(c: Checkpoint, witnesses: Witness[]): Promise<Map<Witness, number>> {
  const all = new Map<Witness, number>();
  for (const w of witnesses) {
    const seconds = await cosignedAt(c, w);
    if (seconds !== null) all.set(w, seconds);
  }
  return all;
}

// completeAt gives the first second at which a quorum was complete (7.3), undefined if it never was.
const completeAt = (quorum: Node, cosigned: Map<Witness, number>) => [...cosigned.values()].sort((a, b) => a - b)
  .find((t) => isMet(quorum, new Set([...cosigned].filter(([, at]) => at <= t).map(([w]) => w.node))));

const LAST_SECOND = 253402300799n; // of the year 9999 (7.3)

// cosignedAt gives the second of a witness's cosignature, null if it has no valid one (7.3).
async function cosignedAt(c: Checkpoint, witness: Witness): Promise<number | null> {
  const s = c.signatures.find((x) => x.name === witness.name && x.id === witness.id);
  const long = witness.type === ML_DSA;
  if (witness.unknown || s === undefined || s.bytes.length !== (long ? MLDSA_SIGNATURE : 72)) return null;
  const time = bigEndian(s.bytes.subarray(0, 8));
  if (time < 1n || time > LAST_SECOND) return null;
  if (long) return mldsa(witness.key, s.bytes, cosignedMessage(c, witness.name, s.bytes)) ? Number(time) : null;
  const message = join(utf8.encode(`cosignature/v1\ntime ${time}\n`), c.body);
  return await ed25519(witness.key, s.bytes.subarray(8), message) ? Number(time) : null;
}

export function stepOrigin(s: State): Outcome {
  const ledger = s.file.checkpoint.origin;
  const genesis = s.genesis?.entry.genesis, context = s.commit?.entry.commit.context;
  if (!genesis && !context) return skip("this entry names no ledger");
  if (genesis && genesis.origin !== ledger) throw new Fault(`the genesis names ${genesis.origin}, the checkpoint ${ledger}`);
  if (context && context.origin !== ledger) throw new Fault(`the commit names ${context.origin}, the checkpoint ${ledger}`);
  if (genesis && context && !equal(context.genesis, sha256(s.genesis!.bytes))) throw new Fault("the commit names another genesis: it is of another ledger of this origin");
  if (genesis && context && genesis.production !== context.production)
    throw new Fault(genesis.production ? "a commit of a sandbox in a production ledger" : "a commit of a production ledger in a sandbox");
  return `${ledger}, ${(genesis ?? context)!.production ? "production" : "a sandbox"}`;
}

// stepSlots finds in the plan the slots whose values the reader gave. The values may still be
// secret, so the detail does not show them.
export function stepSlots(s: State): Outcome {
  const context = s.commit?.entry.commit.context;
  if (s.trust.slots.length === 0) return skip("no value of a slot was given");
  if (!context) return skip("only a commit has a mix plan");
  s.mine = new Set();
  for (const value of s.trust.slots) {
    const hash = slotHash(context.origin, context.table, value);
    const i = context.plan.findIndex((p) => p.source === SLOT && equal(p.slot_hash!, hash));
    if (i < 0) throw new Fault(`the slot of hash ${toBase64(hash)}, at table ${context.table} of ${context.origin}, is not in the plan`);
    s.mine.add(i);
  }
  return `${s.mine.size} of ${many(context.plan.length, "source")} of the plan are the slots whose values were given`;
}

// stepBeacon checks that the beacon's value is the one signature of the planned round.
export async function stepBeacon(s: Whole): Promise<Outcome> {
  const planned = s.context.plan.find((p) => p.source === BEACON);
  if (!planned) return skip("no beacon in the plan");
  if (!isQuicknet(planned)) return skip("a beacon chain that this version does not know: the value may be anything");
  if (!s.mix) return skip("the value comes with the mix");
  const round = planned.round!;
  if (!await signedRound(round, mixValue(s.mix.entry.mix.values, BEACON)!.value!)) throw new Fault(`round ${round}: not the chain's signature of that round`);
  s.round = round;
  return `the value is quicknet's signature of round ${round}, which came out at ${time(roundTime(round) * 1000)}`;
}
