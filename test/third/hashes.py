"""Commitments, openings and the other hashes: SPEC 1.5, 4.1, 4.2, 5.3, 5.7, 5.10, 5.11, 6."""

import base64
import hashlib
import hmac
import re

import ed25519
from draws import Keystream
from merkle import leaf_hash, root_from_path, root_of
from wire import blob16, str8, u8, u16, u32, u64


def label(name):
    """Return the bytes of a label (SPEC 1.3)."""
    return b"shuffled/v1/" + name.encode() + b"\0"


def sha256(*parts):
    """Return SHA-256 of the parts in a row."""
    return hashlib.sha256(b"".join(parts)).digest()


def hkdf(salt, secret, info, size):
    """Return `size` bytes of HKDF-SHA-256 (RFC 5869)."""
    pseudo_random_key = hmac.new(salt, secret, hashlib.sha256).digest()
    block, output, counter = b"", b"", 1
    while len(output) < size:
        block = hmac.new(pseudo_random_key, block + info + u8(counter), hashlib.sha256).digest()
        output += block
        counter += 1
    return output[:size]


def commitment(context, tape):
    """Return the commitment (SPEC 6.1)."""
    return sha256(label("commitment"), blob16(context), u32(len(tape)), tape)


def salts(committed, tape, count):
    """Return the salts (SPEC 6.2)."""
    stream = Keystream(hkdf(committed, tape, label("salt"), 32))
    return [stream.read(32) for _ in range(count)]


def leaf_tag(committed, context):
    """Return the tag of a shuffle's leaves (SPEC 6.3)."""
    return sha256(label("pos"), committed, context)[:16]


def position_leaf(tag, position, value, salt):
    """Return the leaf hash of a position (SPEC 6.3)."""
    return leaf_hash(tag + u16(position) + u32(value) + salt)


def deck_root(tag, values, position_salts):
    """Return the deck root (SPEC 6.3)."""
    return root_of([position_leaf(tag, p, value, salt)
                    for p, (value, salt) in enumerate(zip(values, position_salts))])


def opens(root, tag, m, position, value, salt, path):
    """Whether an opening is accepted (SPEC 6.4)."""
    if not 0 <= position < m:
        return False
    return root_from_path(position_leaf(tag, position, value, salt), position, m, path) == root


def slot_hash(origin, table, r):
    """Return the hash of a slot (SPEC 4.1)."""
    return sha256(label("slot"), str8(origin), str8(table), r)


def mix_seed(commit_entry, values):
    """Return the seed of the mix (SPEC 4.2) from the values of slots and beacons in plan order."""
    return sha256(label("mix"), leaf_hash(commit_entry), *values)


UUID_V7 = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-7[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}"
                     r"-[0-9a-fA-F]{12}")


def key_tag(origin, identity, table, key):
    """Return the tag of an idempotency key (SPEC 5.3)."""
    time = bytes(6)
    if UUID_V7.fullmatch(key):
        time = bytes.fromhex(key[:8] + key[9:13])
    digest = sha256(label("key-tag"), str8(origin), str8(identity), str8(table), str8(key))
    return time + digest[:26]


def key_id(key):
    """Return the id of a key (SPEC 5.7)."""
    return sha256(label("key-id"), key)


def reference(salt, value):
    """Return the reference for a value (SPEC 1.5)."""
    digest = sha256(label("reference"), str8(salt), blob16(value))
    return "h." + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def approval_digest(entry_type, identity, body):
    """Return the digest of the entry that an act approves (SPEC 5.11)."""
    return sha256(label("approved"), u8(entry_type), str8(identity), body)


def credential_digest(fields, secret_hash):
    """Return the digest of a credential (SPEC 5.10). `fields` are the bytes from the credential
    to the expiry."""
    return sha256(label("credential"), fields, secret_hash)


def credential_fields(entry):
    """Return the bytes of a created credential from its id to the expiry."""
    tables = entry.get("tables", [])
    return (str8(entry["credential"]) + u8(entry["form"]) + u8(entry["role"])
            + str8(entry["identity"]) + u16(len(tables)) + b"".join(map(str8, tables))
            + u64(entry.get("expires", 0)))


def act_message(genesis_entry, act):
    """Return what administrators sign (SPEC 5.11)."""
    return label("act") + hashlib.sha256(genesis_entry).digest() + act["signed_fields"]


def signed_by(signature, key, message):
    """Whether a signature of an act is that of this administrator's key, type byte first."""
    return (key[0] == 1 and ed25519.is_key(key[1:])
            and ed25519.verify(key[1:], message, signature["signature"]))
