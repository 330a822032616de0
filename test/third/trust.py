"""What a verifier trusts, and which keys signed: SPEC 10 and the step signature of 10.1."""

import re

import decks
import ed25519
from errors import Malformed, Unknown
from notes import ED25519, ML_DSA, parse_vkey, vkey_of
from policy import Policy
from transcript import is_auditor_name
from wire import from_base64

MAX_AUDITORS = 64


class Trust:
    """What is trusted: a key, a policy or nothing, slots, auditors, a co-dealer's policy, a history, a deck."""

    def __init__(self, vkey=None, policy=None, slots=(), auditors=(), co_dealer=None,
                 history=None, deck=None):
        self.key = None
        if vkey is not None:
            self.key = parse_vkey(vkey, (ED25519, ML_DSA), 128)
            if self.key.kind not in (ED25519, ML_DSA):
                raise Unknown("the trusted key's type")
        self.policy = Policy(policy) if policy is not None else None
        self.slots = [from_base64(slot, "slot", 32) for slot in slots]
        self.auditors = []
        if len(auditors) > MAX_AUDITORS:
            raise Malformed("auditors")
        for text in auditors:
            key = parse_vkey(text, (ED25519,), 128)
            if key.kind != ED25519 or not is_auditor_name(key.name):
                raise Unknown("an auditor's key")
            self.auditors.append(key)
        self.co_dealer = Policy(co_dealer) if co_dealer is not None else None

        self.history = read_history(history) if history is not None else None
        self.deck = decks.published(deck) if deck is not None else None
        if deck is not None and self.deck is None:
            raise Malformed("deck")

    @property
    def pinned(self):
        """The trusted keys of the ledger."""
        if self.key is not None:
            return [self.key]
        return self.policy.logs if self.policy is not None else []


def read_history(text):
    """Return the lines of a game's history (SPEC-BLIND 3), each with its newline."""
    if len(text.encode("utf-8", "surrogatepass")) > 65_536 or (text and not text.endswith("\n")):
        raise Malformed("history")
    lines = text.split("\n")[:-1]
    if len(lines) > 1_024:
        raise Malformed("history")
    for line in lines:
        if not 1 <= len(line.encode("utf-8", "surrogatepass")) <= 1_024 \
                or re.search("[\x00-\x1f\x7f-\x9f\ud800-\udfff]", line):
            raise Malformed("history")
    return [line + "\n" for line in lines]


class KeyChain:
    """The keys of a ledger that a file shows, and the keys that are trusted for it."""

    def __init__(self, origin, first_key, entries, trusted, named=None):
        """`entries` has (index, key bytes, checkpoint) of each signing key's entry. `named` is
        the genesis's origin, which is the name of its keys."""
        named = origin if named is None else named
        self.entries = [(index, vkey_of(named, key), checkpoint)
                        for index, key, checkpoint in entries]
        self.first = vkey_of(named, first_key) if first_key else None
        self.trusted = [key for key in trusted if key.name == origin]
        self.shown = [(index, key) for index, key, _ in self.entries]
        if self.first and self.entries:
            self.shown.insert(0, (0, self.first))
        self.handed_on = set()

    def check(self, needed=True):
        """Check the chain, and the genesis's key if it is needed. Return None, or what is wrong."""
        if needed and self.first and not proper(self.first):
            return "the genesis's key"
        if not all(proper(key) for _, key, _ in self.entries):
            return "a key that is none"
        for index, _, checkpoint in self.entries:
            for signer in self.in_force(index) + self.in_force(index + 1):
                if not signed_by_each(checkpoint, [signer[1]]):
                    return "a key's checkpoint"
            if self.signed(checkpoint):
                self.handed_on.add(index)
        return None

    def in_force(self, size):
        """Return the newest shown key of each algorithm below a size, each (index, key)."""
        newest = {key.kind: (index, key) for number, (index, key) in enumerate(self.shown)
                  if index < size or (number == 0 and index == 0)}
        return list(newest.values())

    def counting(self, size):
        """Return the keys that count on a checkpoint of this size (SPEC 10.1.1)."""
        now = self.in_force(size) + self.in_force(size - 1)
        shown, valid = [key for _, key in self.shown], [key for _, key in now]
        return ([key for key in self.trusted if key in valid or key not in shown]
                + [key for index, key in now if index in self.handed_on])

    def signed(self, checkpoint):
        """Whether the keys that count signed a checkpoint, one of each algorithm."""
        keys = self.counting(checkpoint.size)
        if keys and not any(key.kind == ML_DSA for key in keys):
            keys += [key for _, key in self.in_force(checkpoint.size) if key.kind == ML_DSA]
        return signed_by_each(checkpoint, keys)


def proper(key):
    """Whether a key is proper. An Ed25519 key is a proper point."""
    return key.kind == ML_DSA or ed25519.is_key(key.public)


def signed_by_each(checkpoint, keys):
    """Whether one key of each algorithm signed (SPEC 7.1). A key counts only if its name is the origin."""
    keys = [key for key in keys if key.name == checkpoint.origin]
    kinds = {key.kind for key in keys}
    return bool(kinds) and all(
        any(checkpoint.signed_by(key) for key in keys if key.kind == kind) for kind in kinds)
