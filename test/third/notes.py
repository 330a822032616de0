"""Signed notes, checkpoints and receipts: SPEC 7.1 and 7.2."""

import functools
import hashlib
import re

import ed25519
import mldsa
from entries import MAX_ENTRY
from errors import Malformed, Unknown
from merkle import leaf_hash, root_from_path
from wire import (MAX_INTEGER, decimal, from_base64, is_origin, str8, u64)

MAX_CHECKPOINT = 65_535
MAX_RECEIPT = 132_626
MAX_LINES = 64
MAX_HASHES = 63
LATEST_TIME = 253_402_300_799
ED25519, COSIGNATURE, ML_DSA = 1, 4, 6


class Key:
    """A verifier key: a name, a type byte and the public key. Its id is that of signed notes."""

    def __init__(self, name, kind, public):
        self.name = name
        self.kind = kind
        self.public = public
        digest = hashlib.sha256(name.encode() + b"\n" + bytes([kind]) + public).digest()
        self.id = digest[:4]

    @property
    def typed(self):
        """The type byte and the public key as entries have them. An Ed25519 key that cosigns has
        the type byte of one that signs."""
        return bytes([ED25519 if self.kind == COSIGNATURE else self.kind]) + self.public

    def __eq__(self, other):
        return (self.name, self.kind, self.public) == (other.name, other.kind, other.public)

    def __hash__(self):
        return hash((self.name, self.kind, self.public))


class Note:
    """A signed note: its text and its signature lines, each (name, id, signature)."""

    def __init__(self, signed, what):
        text, separator, block = signed.rpartition("\n\n")
        if not separator or not block.endswith("\n"):
            raise Malformed(what)
        if any(ord(c) < 32 and c != "\n" for c in signed):
            raise Malformed(what)
        self.text = text + "\n"
        lines = block[:-1].split("\n")
        if len(lines) > MAX_LINES:
            raise Malformed(what)
        self.lines = []
        for line in lines:
            self.lines.append(signature_line(line, what))
        if len({(name, key_id) for name, key_id, _ in self.lines}) != len(self.lines):
            raise Malformed(what)

    def signatures_of(self, key):
        """Return the signatures on lines of this key: at most one, because no two lines of a
        note have the same name and id."""
        return [signature for name, key_id, signature in self.lines
                if name == key.name and key_id == key.id]

    def signed_plainly(self, key):
        """Whether the line of an Ed25519 key is its signature of the text."""
        return any(ed25519.verify(key.public, self.text.encode(), signature)
                   for signature in self.signatures_of(key))


def signature_line(line, what):
    """Read a signature line: a dash, a name, and base64 of id and signature."""
    fields = line.split(" ")
    if len(fields) != 3 or fields[0] != "\u2014" or not is_key_name(fields[1]):
        raise Malformed(what)
    raw = from_base64(fields[2], what)
    if len(raw) < 5:
        raise Malformed(what)
    return fields[1], raw[:4], raw[4:]


def is_key_name(name):
    """A key name of C2SP signed-note: not empty, no space, no plus."""
    return name != "" and "+" not in name and not re.search(r"\s", name)


@functools.lru_cache(maxsize=None)
def ml_dsa_verified(public, message, signature):
    """Call mldsa.verify, and cache its result."""
    return mldsa.verify(public, message, signature)


class Checkpoint:
    """A signed checkpoint."""

    def __init__(self, signed, what="checkpoint"):
        if len(signed.encode()) > MAX_CHECKPOINT:
            raise Malformed(what)
        self.signed = signed
        self.note = Note(signed, what)
        lines = self.note.text.split("\n")
        if len(lines) != 4 or lines[3]:
            raise Malformed(what)
        self.origin = lines[0]
        if not is_origin(self.origin) or self.note.lines[0][0] != self.origin:
            raise Malformed(what)
        self.size = decimal(lines[1], 0, MAX_INTEGER, what)
        self.root = from_base64(lines[2], what, 32)

    def signed_by(self, key):
        """Whether this signing key of a ledger, of either algorithm, signed."""
        if key.kind == ML_DSA:
            return self.cosigned_at(key) is not None
        return key.kind == ED25519 and self.note.signed_plainly(key)

    def cosigned_at(self, key):
        """Return the time of a valid cosignature or of a valid ML-DSA-44 signature, or None."""
        for line in self.note.signatures_of(key):
            time = int.from_bytes(line[:8], "big")
            signature = line[8:]
            if key.kind == COSIGNATURE and len(line) == 72:
                message = f"cosignature/v1\ntime {time}\n{self.note.text}".encode()
                if ed25519.verify(key.public, message, signature):
                    return time
            if key.kind == ML_DSA and len(line) == 2_428 and len(key.name.encode()) <= 255:
                message = (b"subtree/v1\n\0" + str8(key.name) + u64(time) + str8(self.origin)
                           + u64(0) + u64(self.size) + self.root)
                if ml_dsa_verified(key.public, message, signature):
                    return time
        return None


def later_version(head, prefix, end):
    """Whether text begins like a file of a later version (SPEC 1.4)."""
    pattern = re.escape(prefix) + r"([1-9][0-9]{0,9})" + re.escape(end)
    match = re.match(pattern, head)
    return match is not None and match.group(1) != "1"


class Receipt:
    """A receipt in its one form. Its entry is not parsed.

    If `under` is given, the text has no checkpoint, and the receipt is under that one.
    """

    def __init__(self, text, under=None):
        if len(text.encode("utf-8", "surrogatepass")) > MAX_RECEIPT:
            raise Malformed("receipt")
        if later_version(text, "c2sp.org/tlog-proof@v", "\n"):
            raise Unknown("receipt of a later version")
        head, separator, signed = text.partition("\n\n")
        lines = head.split("\n")
        if (not separator or len(lines) < 3 or lines[0] != "c2sp.org/tlog-proof@v1"
                or not lines[1].startswith("extra ") or not lines[2].startswith("index ")):
            raise Malformed("receipt")
        self.entry = from_base64(lines[1][len("extra "):], "extra line")
        if not self.entry or len(self.entry) > MAX_ENTRY:
            raise Malformed("extra line")
        self.index = decimal(lines[2][len("index "):], 0, MAX_INTEGER, "index")
        if len(lines) - 3 > MAX_HASHES:
            raise Malformed("inclusion proof")
        self.path = [from_base64(line, "inclusion proof", 32) for line in lines[3:]]
        if under and signed:
            raise Malformed("receipt with a checkpoint of its own")
        self.checkpoint = under or Checkpoint(signed)

    def included(self):
        """Whether the proof leads from the entry to the checkpoint's root."""
        root = root_from_path(leaf_hash(self.entry), self.index, self.checkpoint.size, self.path)
        return root == self.checkpoint.root


def parse_vkey(text, kinds, longest):
    """Read a verifier key `name+id+base64`. If its type is not one of `kinds`, neither its id
    nor its public key is checked."""
    name, _, rest = text.partition("+")
    key_id, _, encoded = rest.partition("+")
    if not is_key_name(name) or len(name.encode()) > longest:
        raise Malformed("verifier key")
    if not re.fullmatch(r"[0-9a-f]{8}", key_id):
        raise Malformed("verifier key")
    raw = from_base64(encoded, "verifier key")
    if len(raw) < 2:
        raise Malformed("verifier key")
    key = Key(name, raw[0], raw[1:])
    if key.kind not in kinds:
        key.id = bytes.fromhex(key_id)
        return key
    if key.id.hex() != key_id:
        raise Malformed("verifier key")
    check_public(key)
    return key


def check_public(key):
    """Check that an Ed25519 key is a proper point, or that an ML-DSA-44 key has 1,312 bytes."""
    good = len(key.public) == mldsa.KEY_SIZE if key.kind == ML_DSA else ed25519.is_key(key.public)
    if not good:
        raise Malformed("verifier key")


def vkey_of(origin, key_bytes):
    """Return the verifier key of a signing key of a ledger, which has its type byte first."""
    return Key(origin, key_bytes[0], key_bytes[1:])
