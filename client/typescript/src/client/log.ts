// What a client knows of the ledger's history. It proves that the ledger only grew (RFC 9162,
// section 2.1.4), with the tiles of C2SP tlog-tiles.
import { equal } from "../verify/bytes.ts";
import { readCheckpoint } from "../verify/checkpoint.ts";
import { signed } from "../verify/ledgersteps.ts";
import { nodeOf } from "../verify/tree.ts";
import type { Bytes, Checkpoint, NoteKey } from "../verify/types.ts";
import { ShuffledError, fault } from "./errors.ts";

// A State keeps a text for a client, so that after a restart it still refuses a ledger that does
// not extend what it saw. The text has signed checkpoints, and no secret. load gives null before
// the first save. The client saves before it returns an answer under a newer checkpoint. There is
// never more than one save at a time.
export interface State {
  load(): Promise<string | null>;
  save(text: string): Promise<void>;
}

export interface Head {
  size: number;
  root: Bytes;
  signed: string;
}

// Compared is a head with the signed checkpoint that it must extend.
type Compared = Head & { other: string };

const MAX_ROOTS = 4096,
  MAX_LOOSE = 256,
  MAX_TILES = 128;

export class Log {
  newest: Head | null = null;
  private roots = new Map<number, Bytes>(); // the roots of accepted checkpoints, by size
  private loose = new Map<number, Head>(); // accepted, but newest was not yet proved to extend these
  private tiles = new Map<string, Bytes>();
  private saved = "";
  private saving: Promise<void> = Promise.resolve();

  // tile fetches the hashes of a tile, null if there is none. path has its level, number and width, as C2SP says.
  constructor(
    private readonly state: State | undefined,
    private readonly tile: (path: string) => Promise<Bytes | null>,
  ) {}

  get size(): number {
    return this.newest?.size ?? 0;
  }
  get waits(): boolean {
    return this.loose.size >= MAX_LOOSE;
  }

  // add accepts a checkpoint, whose signature the caller has checked, unless an accepted one of its
  // size has another root. open is false if the newest was proved to extend it.
  private add(n: Head): { contradicts?: Head; open: boolean } {
    const root = this.roots.get(n.size);
    if (root !== undefined) {
      if (!equal(root, n.root)) return { contradicts: this.loose.get(n.size) ?? this.newest!, open: false };
      return { open: this.loose.has(n.size) || n.size === this.size };
    }
    if (this.roots.size >= MAX_ROOTS)
      for (const size of this.roots.keys()) if (!this.loose.has(size) && size !== this.size) this.roots.delete(size);
    this.roots.set(n.size, n.root);
    if (n.size < this.size) {
      this.loose.set(n.size, n);
    } else {
      if (this.newest) this.loose.set(this.newest.size, this.newest);
      this.newest = n;
    }
    return { open: true };
  }

  // hold accepts the checkpoint of an answer, or throws a fault. With past, the newest must also be
  // proved to extend it.
  async hold(n: Head, past: boolean, answer: string): Promise<void> {
    const { contradicts, open } = this.add(n);
    if (contradicts)
      throw fault(`two checkpoints of ${n.size} entries have different roots: the ledger was forked`, answer, {
        other: contradicts.signed,
      });
    if (!open) return;
    if (past) await this.check();
    await this.save();
  }

  // check proves that the newest checkpoint extends every other one that was accepted.
  async check(): Promise<void> {
    const { newest } = this,
      loose = [...this.loose.values()];
    if (!newest) return;
    for (const l of loose) {
      const proof = await this.proof(l.size, newest.size, { ...newest, other: l.signed });
      const roots = consistent(l.size, newest.size, proof, l.root);
      if (roots === null || !equal(roots[1], newest.root))
        throw fault(`the log's tiles are not those of its ${newest.size} entries`, newest.signed, { other: l.signed });
      if (!equal(roots[0], l.root))
        throw fault(`the ledger of ${newest.size} entries does not extend that of ${l.size}`, newest.signed, {
          other: l.signed,
        });
    }
    for (const l of loose) this.loose.delete(l.size);
    if (loose.length > 0) await this.save();
  }

  // proof gives PROOF(m, D[n]) of RFC 9162 from the hashes in the tiles. The tiles are not trusted:
  // the caller checks that the proof leads to both roots.
  private async proof(m: number, n: number, under: Compared): Promise<Bytes[]> {
    const root = async (from: number, to: number): Promise<Bytes> => {
      const size = to - from,
        k = below(size);
      if (size === 1 || (size === k * 2 && Number.isInteger(Math.log2(size))))
        return this.node(Math.log2(size), from / size, under);
      return nodeOf(await root(from, from + k), await root(from + k, to));
    };
    const sub = async (m: number, from: number, to: number, whole: boolean): Promise<Bytes[]> => {
      const size = to - from,
        k = below(size);
      if (m === size) return whole ? [] : [await root(from, to)];
      if (m <= k) return [...(await sub(m, from, from + k, whole)), await root(from + k, to)];
      return [...(await sub(m - k, from + k, to, false)), await root(from, from + k)];
    };
    return sub(m, 0, n, true);
  }

  // node gives the hash of a complete subtree of 2^level leaves.
  private async node(level: number, index: number, under: Compared): Promise<Bytes> {
    const tileLevel = Math.floor(level / 8),
      span = 2 ** (level % 8),
      first = index * span,
      n = Math.floor(first / 256);
    const width = Math.min(256, Math.floor(under.size / 256 ** tileLevel) - n * 256),
      path = tilePath(tileLevel, n, width);
    let tile: Bytes | null | undefined = this.tiles.get(path);
    if (!tile) {
      tile = await this.tile(path);
      // If the tile never comes, the ledger has lost what was signed.
      if (!tile) throw fault("the log lacks tiles of a checkpoint that was signed", under.signed, { other: under.other });
      if (tile.length !== width * 32)
        throw fault(`the log's tile ${path} has ${tile.length} bytes`, under.signed, { other: under.other });
      if (this.tiles.size >= MAX_TILES) this.tiles.clear();
      if (width === 256) this.tiles.set(path, tile);
    }
    const at = first % 256;
    let row = Array.from({ length: span }, (_, i) => tile.subarray(32 * (at + i), 32 * (at + i) + 32));
    while (row.length > 1) row = Array.from({ length: row.length / 2 }, (_, i) => nodeOf(row[2 * i]!, row[2 * i + 1]!));
    return row[0]!;
  }

  private async save(): Promise<void> {
    const { state } = this;
    if (!state) return;
    // Concurrent calls wait for each other; a later one may find its text saved already.
    const next = this.saving
      .catch(() => {})
      .then(async () => {
        const text = JSON.stringify({
          newest: this.newest!.signed,
          loose: [...this.loose.values()].sort((a, b) => a.size - b.size).map((l) => l.signed),
        });
        if (text === this.saved) return;
        try {
          await state.save(text);
        } catch (e) {
          throw new ShuffledError("caller", `keeping the newest checkpoint failed: ${(e as Error).message}`, {
            cause: e,
          });
        }
        this.saved = text;
      });
    this.saving = next;
    return next;
  }

  // remember accepts the checkpoints that the State has.
  async remember(keys: NoteKey[]): Promise<void> {
    const text = await this.state?.load();
    if (!text) return;
    const refuse = (why: string) => new ShuffledError("caller", `reading the state: ${why}`);
    let kept: { newest: string; loose?: string[] };
    try {
      kept = JSON.parse(text) as typeof kept;
    } catch {
      throw refuse("it is no JSON");
    }
    for (const text of [...(kept.loose ?? []), kept.newest]) {
      const c = readCheckpoint(new TextEncoder().encode(text));
      if (!(await signedByAny(c, keys))) throw refuse("a checkpoint in it is not signed by the pinned key");
      if (this.add({ size: c.size, root: c.root, signed: text }).contradicts)
        throw refuse(`it has two checkpoints of ${c.size} entries`);
    }
  }
}

// signedByAny tells whether one of the keys signed a checkpoint. One key is enough, because a
// checkpoint that is older than a pinned key has no signature of that key.
async function signedByAny(c: Checkpoint, keys: NoteKey[]): Promise<boolean> {
  for (const key of keys) if (c.origin === key.name && (await signed(c, key))) return true;
  return false;
}

// below gives the largest power of two below n.
function below(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

// tilePath gives the path of a tile in C2SP tlog-tiles, with the number in groups of three digits.
function tilePath(level: number, n: number, width: number): string {
  const digits = String(n)
    .padStart(Math.ceil(String(n).length / 3) * 3, "0")
    .match(/.{3}/g)!;
  const groups = digits.map((d, i) => (i < digits.length - 1 ? `x${d}` : d)).join("/");
  return `${level}/${groups}${width < 256 ? `.p/${width}` : ""}`;
}

// consistent gives the two roots that a proof leads to (RFC 9162, 2.1.4.2), null if the proof has
// a wrong length.
export function consistent(m: number, n: number, proof: Bytes[], first: Bytes): [Bytes, Bytes] | null {
  const path = [...proof];
  if (Number.isInteger(Math.log2(m))) path.unshift(first);
  let fn = m - 1,
    sn = n - 1;
  while (fn % 2 === 1) {
    fn = Math.floor(fn / 2);
    sn = Math.floor(sn / 2);
  }
  let fr = path.shift(),
    sr = fr;
  if (!fr || !sr) return null;
  for (const c of path) {
    if (sn === 0) return null;
    if (fn % 2 === 1 || fn === sn) {
      fr = nodeOf(c, fr);
      sr = nodeOf(c, sr);
      while (fn % 2 === 0 && fn !== 0) {
        fn = Math.floor(fn / 2);
        sn = Math.floor(sn / 2);
      }
    } else {
      sr = nodeOf(sr, c);
    }
    fn = Math.floor(fn / 2);
    sn = Math.floor(sn / 2);
  }
  return sn === 0 ? [fr, sr] : null;
}
