"""Merkle trees of RFC 6962, section 2.1."""

import hashlib


def leaf_hash(data):
    """Return SHA-256(0x00 || data)."""
    return hashlib.sha256(b"\0" + data).digest()


def node_hash(left, right):
    """Return SHA-256(0x01 || left || right)."""
    return hashlib.sha256(b"\1" + left + right).digest()


def root_of(leaves):
    """Return the root over leaf hashes."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return node_hash(root_of(leaves[:split]), root_of(leaves[split:]))


def root_from_path(leaf, index, size, path, sides=None):
    """Return the root that an audit path leads to, or None if it has another length. `sides` gets
    for each hash whether it stands left of the leaf."""
    if not 0 <= index < size:
        return None
    inner, last = index, size - 1
    root = leaf
    hashes = iter(path)
    used = 0
    while last > 0:
        if inner % 2 == 1 or inner < last:
            sibling = next(hashes, None)
            if sibling is None:
                return None
            used += 1
            if sides is not None:
                sides.append(inner % 2 == 1)
            root = node_hash(sibling, root) if inner % 2 == 1 else node_hash(root, sibling)
        inner //= 2
        last //= 2
    return root if used == len(path) else None


def begins(first, larger, leaf, path):
    """Whether the tree of the larger checkpoint begins with that of the first. `leaf` is of the
    last entry of the first, and `path` that of this entry in the larger tree. The hashes of the
    path left of the entry are its whole path in the first tree (SPEC 7.2)."""
    sides = []
    index = first.size - 1
    if root_from_path(leaf, index, larger.size, path, sides) != larger.root:
        return False
    left = [hashed for hashed, is_left in zip(path, sides) if is_left]
    return root_from_path(leaf, index, first.size, left) == first.root
