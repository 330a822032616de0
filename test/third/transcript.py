"""The form of transcripts and statements: SPEC 8."""

import json
import re

from errors import Malformed, Unknown
from merkle import begins
from notes import Checkpoint, Note, Receipt, later_version
from wire import MAX_INTEGER, decimal, from_base64, is_name, is_origin

MAX_TRANSCRIPT = 32 * 2**20
MAX_STATEMENT = 16_384
MAX_DOCUMENT = 65_536
SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r",
         "\t": "\\t"}


def write(value):
    """Write JSON in the one form of SPEC 8. An object is a tuple of pairs."""
    if isinstance(value, str):
        return '"' + "".join(write_character(c) for c in value) + '"'
    if isinstance(value, bool) or value is None:
        raise Malformed("JSON")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, tuple):
        return "{" + ",".join(write(k) + ":" + write(v) for k, v in value) + "}"
    return "[" + ",".join(map(write, value)) + "]"


def write_character(character):
    """Write a character of a string, with the shortest escape."""
    if character in SHORT:
        return SHORT[character]
    return f"\\u{ord(character):04x}" if ord(character) < 32 else character


def no_fraction(text):
    """Refuse a number that is not an integer in plain decimal."""
    raise Malformed(f"number {text[:20]}")


def one_form(raw):
    """Parse JSON that is written in the one form. Objects become tuples of pairs."""
    try:
        text = raw.decode("utf-8")
        value = json.loads(text, object_pairs_hook=tuple, parse_float=no_fraction,
                           parse_constant=no_fraction)
        if write(value).encode("utf-8") != raw:
            raise Malformed("another spelling of this JSON")
    except (ValueError, RecursionError) as error:
        raise Malformed("JSON") from error
    return value


def members(value, required, optional, what):
    """Return the members of an object, which must stand in their order."""
    if not isinstance(value, tuple):
        raise Malformed(what)
    names = [name for name, _ in value]
    order = [name for name in required if name in names]
    if len(set(names)) != len(names) or order != names:
        raise Malformed(f"members of {what}")
    if any(name not in names and name not in optional for name in required):
        raise Malformed(f"members of {what}")
    return dict(value)


def integer(value, low, high, what):
    """Check an integer within bounds."""
    if not isinstance(value, int) or not low <= value <= high:
        raise Malformed(what)
    return value


def texts(value, low, high, what):
    """Check a list of strings."""
    if not isinstance(value, list) or not low <= len(value) <= high:
        raise Malformed(what)
    if not all(isinstance(item, str) for item in value):
        raise Malformed(what)
    return value


def text(value, what):
    """Check a string that is not empty."""
    if not isinstance(value, str) or not value:
        raise Malformed(what)
    return value


def hashes_of(value, what, most=12):
    """Read the hashes of a proof."""
    return [from_base64(item, what, 32) for item in texts(value, 0, most, what)]


def handovers(value):
    """Read `keys`. Return the texts of each element, (receipt, checkpoint)."""
    if not isinstance(value, list) or not 1 <= len(value) <= 1024:
        raise Malformed("keys")
    listed = [members(item, ["receipt", "checkpoint"], (), "a key") for item in value]
    return [tuple(texts(list(item.values()), 2, 2, "a key")) for item in listed]


class Last:
    """The last entry of a tree, and its path in a larger one, which begins with that tree."""

    def __init__(self, value, *more):
        self.found = members(value, [*more, "leaf", "proof"], (), "a last entry")
        self.leaf = from_base64(text(self.found["leaf"], "leaf"), "leaf", 32)
        self.path = hashes_of(self.found["proof"], "proof", 63)

    def ties(self, first, larger):
        """Whether the larger checkpoint's tree begins with that of the first."""
        return begins(first, larger, self.leaf, self.path)


class Prefix(Last):
    """An earlier checkpoint, and what proves that its tree is the beginning of a larger one."""

    def __init__(self, value):
        super().__init__(value, "checkpoint")
        self.signed, = texts([self.found["checkpoint"]], 1, 1, "witnessed")

    def read_text(self):
        """Read the checkpoint."""
        self.checkpoint = Checkpoint(self.signed)


def read_card(value):
    """Read an element of `cards`."""
    order = ["place", "position", "value", "card", "salt", "proof", "by"]
    card = members(value, order, ("card", "by"), "a card")
    read = {"place": integer(card["place"], 0, 4095, "place"),
            "position": integer(card["position"], 0, 4095, "position"),
            "value": integer(card["value"], 0, 2**32 - 1, "value"),
            "salt": from_base64(text(card["salt"], "salt"), "salt", 32),
            "proof": hashes_of(card["proof"], "proof"), "card": None, "by": None}
    if "card" in card:
        read["card"] = text(card["card"], "card name")
    if "by" in card:
        by = members(card["by"], ["value", "salt", "proof"], (), "by")
        read["by"] = {"value": integer(by["value"], 0, 2**32 - 1, "value"),
                      "salt": from_base64(text(by["salt"], "salt"), "salt", 32),
                      "proof": hashes_of(by["proof"], "proof")}
    return read


class Statement:
    """A signed statement (SPEC 8.1)."""

    def __init__(self, signed):
        if len(signed.encode("utf-8", "surrogatepass")) > MAX_STATEMENT:
            raise Malformed("statement")
        if later_version(signed, "shuffled/v", "/statement\n"):
            raise Unknown("statement of a later version")
        self.note = Note(signed, "statement")
        lines = self.note.text.split("\n")
        if (len(lines) != 7 or lines[0] != "shuffled/v1/statement" or lines[5] != "order ok"
                or lines[6] or not is_origin(lines[1])):
            raise Malformed("statement")
        self.origin = lines[1]
        self.id = decimal(lines[2], 1, MAX_INTEGER, "statement")
        self.commit_leaf = from_base64(lines[3], "statement", 32)
        self.last_leaf = from_base64(lines[4], "statement", 32)
        for name, _, _ in self.note.lines:
            if not is_auditor_name(name):
                raise Malformed("name on a statement")


def is_auditor_name(name):
    """Whether a name can stand on a line of a statement: 1 to 128 bytes."""
    return re.fullmatch(r"[\x21-\x2a\x2c-\x7e]{1,128}", name) is not None


class Transcript:
    """The members of a transcript. read_texts() reads the texts in it."""

    ORDER = ["format", "id", "recipient", "deck", "terms", "checkpoint", "receipts", "witnessed",
             "keys",
             "statements", "co_dealer", "cards"]
    OPTIONAL = ("recipient", "deck", "terms", "witnessed", "keys", "statements", "co_dealer")

    def __init__(self, raw):
        if len(raw) > MAX_TRANSCRIPT:
            raise Malformed("transcript")
        head = raw[:64].decode("latin-1")
        if later_version(head, '{"format":"shuffled/v', '/transcript"'):
            raise Unknown("transcript of a later version")
        found = members(one_form(raw), self.ORDER, self.OPTIONAL, "the transcript")
        if found["format"] != "shuffled/v1/transcript":
            raise Malformed("format")
        self.id = integer(found["id"], 1, MAX_INTEGER, "id")
        self.recipient = None
        if "recipient" in found:
            self.recipient = text(found["recipient"], "recipient")
            if not is_name(self.recipient):
                raise Malformed("recipient")
        self.deck = None
        if "deck" in found:
            self.deck = texts(found["deck"], 1, 4096, "deck")
        self.terms = None
        if "terms" in found:
            self.terms = from_base64(text(found["terms"], "terms"), "terms")
            if len(self.terms) > MAX_DOCUMENT:
                raise Malformed("terms")
        self.checkpoint_text = found["checkpoint"]
        if not isinstance(self.checkpoint_text, str):
            raise Malformed("checkpoint")
        self.receipt_texts = texts(found["receipts"], 2, 8213, "receipts")
        self.witnessed = Prefix(found["witnessed"]) if "witnessed" in found else None
        self.key_texts = handovers(found["keys"]) if "keys" in found else []
        self.statement_texts = texts(found["statements"], 1, 8, "statements") \
            if "statements" in found else []
        self.read_co_dealer(found.get("co_dealer"))
        if not isinstance(found["cards"], list) or len(found["cards"]) > 4096:
            raise Malformed("cards")
        self.cards = [read_card(card) for card in found["cards"]]

    def read_co_dealer(self, value):
        """Read the member `co_dealer`."""
        self.has_co_dealer = value is not None
        self.co_receipt_texts, self.co_key_texts, self.unplayed = [], [], []
        self.heads = []
        if self.has_co_dealer:
            inner = members(value, ["receipts", "heads", "keys", "unplayed"],
                            ("heads", "keys", "unplayed"), "co_dealer")
            self.co_receipt_texts = texts(inner["receipts"], 1, 8213, "co_dealer")
            if "heads" in inner:
                if not isinstance(inner["heads"], list) or not inner["heads"] \
                        or len(inner["heads"]) != len(self.co_receipt_texts) - 1:
                    raise Malformed("heads")
                self.heads = [Last(item) for item in inner["heads"]]
            if "keys" in inner:
                self.co_key_texts = handovers(inner["keys"])
            if "unplayed" in inner:
                if not isinstance(inner["unplayed"], list) or not 1 <= len(inner["unplayed"]) <= 64:
                    raise Malformed("unplayed")
                self.unplayed = [read_card(card) for card in inner["unplayed"]]

    def read_texts(self):
        """Read the texts of SPEC 7.2 and 8.1, in their order."""
        self.checkpoint = Checkpoint(self.checkpoint_text)
        self.receipts = [Receipt(item, self.checkpoint) for item in self.receipt_texts]
        if self.witnessed is not None:
            self.witnessed.read_text()
            one_origin(self.checkpoint, self.witnessed)
        self.keys = read_handovers(self.key_texts, self.checkpoint)
        self.statements = []
        seen = set()
        for item in self.statement_texts:
            statement = Statement(item)
            lines = {(name, key_id) for name, key_id, _ in statement.note.lines}
            if lines & seen:
                raise Malformed("two statements with one line")
            seen |= lines
            self.statements.append(statement)
        self.co_receipts, self.co_keys = [], []
        for item in self.co_receipt_texts:
            self.co_receipts.append(Receipt(item))
            one_origin(self.co_receipts[0].checkpoint, self.co_receipts[-1])
        if self.has_co_dealer:
            self.co_keys = read_handovers(self.co_key_texts, self.co_receipts[0].checkpoint)


def read_handovers(listed, checkpoint):
    """Read the elements of `keys`, each a receipt with the checkpoint that hands on."""
    keys = []
    for receipt, signed in listed:
        keys.append(Receipt(receipt, checkpoint))
        keys[-1].checkpoint = Checkpoint(signed)
        one_origin(checkpoint, keys[-1])
    return keys


def one_origin(checkpoint, receipt):
    """Check that all checkpoints of a ledger have one origin."""
    if receipt.checkpoint.origin != checkpoint.origin:
        raise Malformed("checkpoints of two origins")
