"""Mutants with changed entries, whose trees and signatures are made anew.

Without that, a file with a changed entry fails at `inclusion`. Here a key of this program signs the
new tree, and the mutant's trust names that key. So mutants reach the steps behind `inclusion`:
origin, legality, openings and the rest.
"""

import hashlib
import json

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from entries import Entry
from errors import Malformed, Unknown
from merkle import leaf_hash, root_of
from notes import Checkpoint, Key, Receipt
from wire import to_base64

SIGNER = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"third verifier").digest())
PUBLIC = SIGNER.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
MAX_SIZE = 400


def vkey(origin):
    """Return the verifier key of this program for an origin."""
    key = Key(origin, 1, PUBLIC)
    return f"{origin}+{key.id.hex()}+{to_base64(bytes([1]) + PUBLIC)}"


def signed_checkpoint(origin, size, root):
    """Return a checkpoint that this program signed."""
    text = f"{origin}\n{size}\n{to_base64(root)}\n"
    signature = Key(origin, 1, PUBLIC).id + SIGNER.sign(text.encode())
    return f"{text}\n\u2014 {origin} {to_base64(signature)}\n"


def audit_path(index, leaves):
    """Return the audit path of a leaf (RFC 6962, section 2.1.1)."""
    if len(leaves) == 1:
        return []
    split = 1 << (len(leaves) - 1).bit_length() - 1
    if index < split:
        return audit_path(index, leaves[:split]) + [root_of(leaves[split:])]
    return audit_path(index - split, leaves[split:]) + [root_of(leaves[:split])]


def leaves_of(size, entries):
    """Return the leaf hashes of a tree with these entries at their indexes, and fillers elsewhere."""
    leaves = [leaf_hash(f"filler {i}".encode()) for i in range(size)]
    for index, raw in entries:
        if index < size:
            leaves[index] = leaf_hash(raw)
    return leaves


def receipt_text(index, raw, leaves):
    """Return the receipt of an entry in a tree, up to its checkpoint."""
    path = audit_path(index, leaves) if index < len(leaves) else []
    lines = ["c2sp.org/tlog-proof@v1", "extra " + to_base64(raw), f"index {index}",
             *map(to_base64, path), "", ""]
    return "\n".join(lines)


def lone_receipt(chance, raw):
    """Return a receipt of these bytes, signed by this program, and its trust."""
    origin = "casino.example/main"
    size = chance.randrange(1, 40)
    index = chance.randrange(size) if chance.random() < 0.7 else 0
    leaves = leaves_of(size, [(index, raw)])
    trust = {"vkey": vkey(origin)} if chance.random() < 0.9 else {}
    text = receipt_text(index, raw, leaves) + signed_checkpoint(origin, size, root_of(leaves))
    return text.encode(), trust


class Resigner:
    """Makes mutants of one transcript."""

    def __init__(self, chance, raw, trust):
        self.chance, self.raw, self.trust = chance, raw, trust

    def mutant(self):
        """Return the bytes of a changed and newly signed transcript, and its trust. Return None
        if the file cannot be read, has `keys`, or is of too large a tree."""
        try:
            file = json.loads(self.raw)
            checkpoint = Checkpoint(file["checkpoint"])
            receipts = [Receipt(text, checkpoint) for text in file["receipts"]]
        except (ValueError, KeyError, TypeError, Malformed, Unknown):
            return None
        if "keys" in file or checkpoint.size > MAX_SIZE:
            return None
        listed = [[receipt.index, receipt.entry] for receipt in receipts]
        file.pop("witnessed", None)
        size = max(checkpoint.size, 2)
        for _ in range(self.chance.choice((1, 1, 1, 2))):
            size = self.change(file, listed, size)
        size = max([size] + [index + 1 for index, _ in listed if index < MAX_SIZE])
        leaves = leaves_of(size, listed)
        origin = checkpoint.origin
        file["checkpoint"] = signed_checkpoint(origin, size, root_of(leaves))
        file["receipts"] = [receipt_text(index, raw, leaves) for index, raw in listed]
        trust = {"vkey": vkey(origin)}
        for name in ("co_dealer", "auditors", "slots", "history", "deck"):
            if name in self.trust:
                trust[name] = self.trust[name]
        text = json.dumps(file, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "surrogatepass"), trust

    def change(self, file, listed, size):
        """Make one change to the entries, their places, or the cards. Return the size of the tree."""
        how = self.chance.randrange(8)
        at = self.chance.randrange(len(listed))
        if how == 0 and len(listed) > 1:
            del listed[at]
        elif how == 1:
            listed.insert(self.chance.randrange(len(listed) + 1), list(listed[at]))
        elif how == 2:
            other = self.chance.randrange(len(listed))
            listed[at][1], listed[other][1] = listed[other][1], listed[at][1]
        elif how == 3:
            step = self.chance.choice((-2, -1, 1, 2))
            for item in listed[at:]:
                item[0] = max(0, item[0] + step)
        elif how == 4 and file.get("cards"):
            cards = file["cards"]
            i = self.chance.randrange(len(cards))
            if self.chance.random() < 0.5:
                del cards[i]
            else:
                name = self.chance.choice(("place", "position", "value"))
                cards[i][name] = max(0, cards[i][name] + self.chance.choice((-1, 1)))
        elif how == 5:
            return max(2, size + self.chance.choice((-1, 1, 7)))
        else:
            listed[at][1] = self.changed_entry(listed[at][1])
        return size

    def changed_entry(self, raw):
        """Return an entry with another time or identity, or with one other byte in its body."""
        data = bytearray(raw)
        how = self.chance.randrange(5)
        if how == 0:
            time = int.from_bytes(data[2:10], "big")
            step = self.chance.choice((-3_600_000, -1, 1, 1_000, 3_600_000, 100_000_000))
            data[2:10] = max(0, time + step).to_bytes(8, "big")
        elif how == 1:
            return self.other_identity(raw)
        else:
            start = self.body_start(raw)
            end = len(data) if how == 2 else min(len(data), start + 40)
            at = self.chance.randrange(min(start, end - 1), end)
            data[at] = (data[at] + self.chance.choice((1, 255, 128))) % 256
        return bytes(data)

    def other_identity(self, raw):
        """Return the entry with another identity and credential."""
        start = self.body_start(raw)
        name = self.chance.choice((b"dealer-1", b"dealer-2", b"daemon", b"operator", b"x"))
        both = bytes([len(name)]) + name
        return raw[:10] + both + both + raw[start:]

    @staticmethod
    def body_start(raw):
        """Return the offset of an entry's body."""
        try:
            return Entry(raw).body_start
        except (Malformed, Unknown):
            return min(10, len(raw) - 1)
