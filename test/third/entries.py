"""Entries: SPEC 5. Their members have the names that the vectors use."""

import bodies
import codes
import shuffles
from errors import Malformed, Unknown
from wire import RESERVED, Reader

MAX_ENTRY = 48_000
MAX_OPAQUE = 1_024


class Entry:
    """A parsed entry: its header, the kind of its body, its body, and the codes that were passed over."""

    def __init__(self, raw):
        if len(raw) > MAX_ENTRY:
            raise Malformed("entry")
        self.raw = raw
        self.passed_over = []
        reader = Reader(raw)
        if reader.integer(1, "version") != 1:
            raise Unknown("version")
        self.type = reader.u8("type")
        known = codes.check("entry", self.type, "type", self.passed_over)
        self.time = reader.u64("time")
        self.identity = reader.name("identity")
        self.credential = reader.name("credential")
        reserved = [name for name in (self.identity, self.credential) if name in RESERVED]
        if reserved and self.identity != self.credential:
            raise Malformed("credential")
        self.body_start = reader.position
        if known:
            self.kind = codes.NAMES["entry"][self.type]
            self.body = READERS[self.kind](reader, self.passed_over)
        else:
            self.kind = "opaque"
            self.body = read_opaque(reader, self.type)
        reader.end(self.kind)

    @property
    def body_bytes(self):
        """The bytes of the body, which an act approves."""
        return self.raw[self.body_start:]

    def fields(self):
        """Return the entry as the vectors write it."""
        member = "credential_entry" if self.kind == "credential" else self.kind
        return {"time": self.time, "identity": self.identity, "credential": self.credential,
                member: self.body}


def read_opaque(reader, entry_type):
    """Read the body of an entry whose type is passed over (SPEC 1.4)."""
    rest = reader.data[reader.position:]
    if len(rest) > MAX_OPAQUE:
        raise Malformed("body")
    reader.position = len(reader.data)
    return {"type": entry_type, "body": rest}


READERS = {
    "genesis": bodies.genesis,
    "commit": shuffles.commit,
    "mix": shuffles.mix,
    "deal": shuffles.deal,
    "close": shuffles.close,
    "key": bodies.key,
    "event": bodies.event,
    "takeover": shuffles.takeover,
    "credential": bodies.credential,
    "act": bodies.act,
    "reveal": shuffles.reveal,
    "disclosure": shuffles.disclosure,
}
