"""Integers, strings and names: SPEC 1.1, 1.2 and 1.5."""

import base64
import binascii
import re

from errors import Malformed

MAX_INTEGER = 2**53 - 1
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
ORIGIN = re.compile(r"[a-z0-9]([a-z0-9./_-]{0,126}[a-z0-9])?")
REASON = re.compile(r"[\x20-\x7e]{1,200}")
DECIMAL = re.compile(r"0|[1-9][0-9]*")
RESERVED = ("daemon", "operator")


def is_name(text):
    """Whether a text is a name of SPEC 1.5."""
    return NAME.fullmatch(text) is not None


def is_origin(text):
    """Whether a text is an origin of SPEC 1.5."""
    return ORIGIN.fullmatch(text) is not None


def u8(number):
    """Return one byte."""
    return number.to_bytes(1, "big")


def u16(number):
    """Return two bytes, big-endian."""
    return number.to_bytes(2, "big")


def u32(number):
    """Return four bytes, big-endian."""
    return number.to_bytes(4, "big")


def u64(number):
    """Return eight bytes, big-endian."""
    return number.to_bytes(8, "big")


def str8(value):
    """Return a u8 length and that many bytes."""
    raw = value.encode() if isinstance(value, str) else value
    return u8(len(raw)) + raw


def blob16(value):
    """Return a u16 length and that many bytes."""
    raw = value.encode() if isinstance(value, str) else value
    return u16(len(raw)) + raw


def decimal(text, low, high, what):
    """Read a plain decimal without leading zeros, within bounds."""
    if len(text) > 20 or not DECIMAL.fullmatch(text) or not low <= int(text) <= high:
        raise Malformed(what)
    return int(text)


def from_base64(text, what, size=None):
    """Read padded base64 without stray bits. If `size` is given, it must have that many bytes."""
    try:
        raw = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise Malformed(what) from error
    if base64.b64encode(raw).decode() != text or (size is not None and len(raw) != size):
        raise Malformed(what)
    return raw


def to_base64(raw):
    """Return padded base64."""
    return base64.b64encode(raw).decode()


class Reader:
    """Reads the fields of a structure in their order. Each error names its field."""

    def __init__(self, data):
        self.data = data
        self.position = 0

    def take(self, size, field):
        """Return the next bytes."""
        end = self.position + size
        if end > len(self.data):
            raise Malformed(field)
        raw = self.data[self.position:end]
        self.position = end
        return raw

    def integer(self, size, field, low=0, high=MAX_INTEGER):
        """Read an unsigned integer within bounds."""
        number = int.from_bytes(self.take(size, field), "big")
        if not low <= number <= high:
            raise Malformed(field)
        return number

    def u8(self, field, low=0, high=255):
        """Read a u8 within bounds."""
        return self.integer(1, field, low, high)

    def u16(self, field, low=0, high=65535):
        """Read a u16 within bounds."""
        return self.integer(2, field, low, high)

    def u32(self, field, low=0, high=2**32 - 1):
        """Read a u32 within bounds."""
        return self.integer(4, field, low, high)

    def u64(self, field, low=0, high=MAX_INTEGER):
        """Read a u64, at most 2^53 - 1."""
        return self.integer(8, field, low, high)

    def flag(self, field):
        """Read a u8 that is 0 or 1."""
        return self.u8(field, 0, 1) == 1

    def hash(self, field):
        """Read 32 bytes."""
        return self.take(32, field)

    def str8(self, field):
        """Read a u8 length and that many bytes."""
        return self.take(self.u8(field), field)

    def blob16(self, field):
        """Read a u16 length and that many bytes."""
        return self.take(self.u16(field), field)

    def text(self, field, pattern):
        """Read a str8 of ASCII that matches a pattern."""
        raw = self.str8(field)
        try:
            text = raw.decode("ascii")
        except UnicodeDecodeError as error:
            raise Malformed(field) from error
        if not pattern.fullmatch(text):
            raise Malformed(field)
        return text

    def name(self, field):
        """Read a name."""
        return self.text(field, NAME)

    def origin(self, field):
        """Read an origin."""
        return self.text(field, ORIGIN)

    def reason(self, field):
        """Read a reason."""
        return self.text(field, REASON)

    def name_or_empty(self, field):
        """Read a name, or nothing."""
        if self.data[self.position:self.position + 1] == b"\0":
            self.position += 1
            return ""
        return self.name(field)

    def end(self, field):
        """Check that nothing is left over."""
        if self.position != len(self.data):
            raise Malformed(field)
