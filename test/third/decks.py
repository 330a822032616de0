"""Decks: SPEC 3."""

import hashlib
import re
from collections import Counter

from errors import Malformed
from wire import str8, u16

SUITS = "shdc"
RANKS = "A23456789TJQK"


def forbidden(character):
    """Whether SPEC 3.1 forbids this character in names."""
    code = ord(character)
    ranges = ((0x0, 0x1f), (0x7f, 0xa0), (0xad, 0xad), (0x34f, 0x34f), (0x600, 0x605), (0x61c,
              0x61c), (0x6dd, 0x6dd), (0x70f, 0x70f), (0x890, 0x891), (0x8e2, 0x8e2), (0x115f,
              0x1160), (0x1680, 0x1680), (0x17b4, 0x17b5), (0x180b, 0x180f), (0x2000, 0x200f),
              (0x2028, 0x202f), (0x205f, 0x206f), (0x2800, 0x2800), (0x3000, 0x3000), (0x3164,
              0x3164), (0xfe00, 0xfe0f), (0xfeff, 0xfeff), (0xffa0, 0xffa0), (0xfff0, 0xfffb),
              (0x110bd, 0x110bd), (0x110cd, 0x110cd), (0x13430, 0x1343f), (0x16fe4, 0x16fe4),
              (0x1bca0, 0x1bca3), (0x1d159, 0x1d159), (0x1d173, 0x1d17a), (0xe0000, 0xe0fff))
    return any(low <= code <= high for low, high in ranges)


def check_name(name):
    """Check the name of a card, or a label of a wheel (SPEC 3.1)."""
    raw = name.encode("utf-8", "surrogatepass")
    if not 1 <= len(raw) <= 64 or name.startswith(" ") or name.endswith(" "):
        raise Malformed("card name")
    if any(forbidden(character) for character in name):
        raise Malformed("card name")


def deck_hash(names):
    """Return the hash of a list of card names (SPEC 3.1)."""
    hashed = hashlib.sha256(b"shuffled/v1/deck\0" + u16(len(names)))
    for name in names:
        hashed.update(str8(name))
    return hashed.digest()


def cards(suits, ranks):
    """Return all cards of these suits and ranks. The suits follow each other, each with all ranks."""
    return [rank + suit for suit in suits for rank in ranks]


def published(name):
    """Return the cards of a published deck (SPEC 3.2), or None for any other name."""
    standard = cards(SUITS, RANKS)
    fixed = {
        "standard-52": standard,
        "standard-54": standard + ["Jr", "Jb"],
        "short-36": cards(SUITS, "A6789TJQK"),
        "pinochle-48": cards(SUITS, "A9TJQK") * 2,
        "spanish-40": cards("obec", "1234567SCR"),
    }
    if name in fixed:
        return fixed[name]
    head, _, tail = name.partition("-")
    if not re.fullmatch("[1-9][0-9]{0,3}", tail):
        return None
    if head == "shoe" and int(tail) <= 16:
        return standard * int(tail)
    if head == "positions" and 2 <= int(tail) <= 4096:
        return [str(i) for i in range(int(tail))]
    return None


def likeness(names):
    """Return which published deck this is, or is most like, as members of a verdict (SPEC 10.4)."""
    known = ["standard-52", "standard-54", "short-36", "pinochle-48", "spanish-40"]
    known += [f"shoe-{number}" for number in range(1, 17)] + [f"positions-{len(names)}"]
    for name in known:
        if published(name) == names:
            return {"deck": name}
    found, least = {}, len(names) // 2 + 1
    for name in known:
        differs = Counter(names)
        differs.subtract(published(name))
        differs = {card: count for card, count in differs.items() if count}
        number = sum(abs(count) for count in differs.values())
        if number < least:
            least, found = number, {"like": name}
            if differs:
                found["differs"] = differs
    return found
