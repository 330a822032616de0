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


def root_from_path(leaf, index, size, path):
    """Return the root that an audit path leads to, or None if it has another length."""
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
            root = node_hash(sibling, root) if inner % 2 == 1 else node_hash(root, sibling)
        inner //= 2
        last //= 2
    return root if used == len(path) else None
