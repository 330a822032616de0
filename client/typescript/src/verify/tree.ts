// Merkle trees (RFC 6962 section 2.1).
import { equal } from "./bytes.ts";
import { sha256 } from "./sha256.ts";
import type { Bytes, Checkpoint } from "./types.ts";

export const leafOf = (bytes: Uint8Array) => sha256(Uint8Array.of(0), bytes);
export const nodeOf = (left: Uint8Array, right: Uint8Array) => sha256(Uint8Array.of(1), left, right);

type Tree = Pick<Checkpoint, "size" | "root">;

// Made is the hash of a node, with its two children.
export interface Made { left: Bytes; right: Bytes; hash: Bytes }

// climb gives the root to which a leaf and a path lead. path has its hashes one after another. It
// gives null if the path is shorter or longer than index and size demand. Proofs of neighbouring
// leaves end alike, so above keeps the last node of each height. Each hash that stands left of the leaf goes to left.
export function climb(leaf: Bytes, index: number, size: number, path: Bytes, above: Made[] = [], left?: (hash: Bytes) => void): Bytes | null {
  if (index >= size) return null;
  let hash = leaf, at = index, last = size - 1;
  const node = (height: number, left: Bytes, right: Bytes) => {
    const n = above[height];
    if (n !== undefined && equal(n.left, left) && equal(n.right, right)) return n.hash;
    return (above[height] = { left, right, hash: nodeOf(left, right) }).hash;
  };
  for (let i = 0; i < path.length; i += 32) {
    const sibling = path.subarray(i, i + 32);
    if (last === 0) return null;
    if (at % 2 === 1 || at === last) {
      left?.(sibling);
      hash = node(i / 32, sibling, hash);
      while (at % 2 === 0 && at !== 0) { at /= 2; last = Math.floor(last / 2); }
    } else {
      hash = node(i / 32, hash, sibling);
    }
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? hash : null;
}

// begins tells whether the tree of the larger checkpoint begins with that of the first. The path leads from the
// leaf of the last entry of the first to the larger root. The hashes left of the leaf alone give the first's root.
export function begins(first: Tree, larger: Tree, leaf: Bytes, path: Bytes): boolean {
  let hash = leaf;
  const root = climb(leaf, first.size - 1, larger.size, path, [], (left) => hash = nodeOf(left, hash));
  return first.size > 0 && root !== null && equal(root, larger.root) && equal(hash, first.root);
}

// rootOf gives the root of leaf hashes. A node without a sibling goes up as it is. This is the tree
// of RFC 6962, which splits at the largest power of two.
export function rootOf(hashes: Bytes[]): Bytes {
  let level = hashes;
  while (level.length > 1) {
    const above: Bytes[] = [];
    for (let i = 0; i < level.length; i += 2) above.push(i + 1 < level.length ? nodeOf(level[i]!, level[i + 1]!) : level[i]!);
    level = above;
  }
  return level[0]!;
}
