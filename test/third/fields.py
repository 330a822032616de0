"""Parts that several bodies of entries share: keys, policies, extension lists (SPEC 5)."""

import codes
from errors import Malformed, Unknown
from wire import Reader

MAX_POLICY = 32_768
MAX_EXTENSION = 1_024
SIGNING_SIZES = {1: 33}
ENTRY_SIGNING_SIZES = {1: 33, 6: 1_313}
SEALING_SIZES = {1: 66, 2: 1_250}


def public_key(raw, sizes, field):
    """Check the type and the size of a key (SPEC 5.7)."""
    if not 2 <= len(raw) <= 2_048:
        raise Malformed(field)
    if raw[0] not in sizes:
        raise Unknown(field)
    if len(raw) != sizes[raw[0]]:
        raise Malformed(field)
    return raw


def sealing_key(raw, field):
    """Check a disclosure or auditor key. Its point is uncompressed."""
    public_key(raw, SEALING_SIZES, field)
    if raw[-65] != 4:
        raise Malformed(field)
    return raw


def policy_text(raw):
    """Read a witness policy of an entry: printable ASCII and newlines (SPEC 7.3)."""
    if len(raw) > MAX_POLICY or any(b != 10 and not 32 <= b <= 126 for b in raw):
        raise Malformed("witness policy")
    return raw.decode("ascii")


def extensions(reader, code_list, passed_over, known):
    """Read an extension list, and return its members by name. `known` has, by name, a reader of each value."""
    members = {}
    others = []
    last = -1
    for _ in range(reader.u8("extensions")):
        code = reader.u8("extension")
        known_code = codes.check(code_list, code, "extension", passed_over)
        if code <= last:
            raise Malformed("extension")
        last = code
        if known_code:
            value = Reader(reader.blob16("extension"))
            name = codes.NAMES[code_list][code]
            members[name] = known[name](value)
            value.end(name)
        else:
            value = reader.blob16("extension")
            if len(value) > MAX_EXTENSION:
                raise Malformed("extension")
            others.append({"code": code, "value": value})
    if others:
        members["extensions"] = others
    return members


def acts_list(reader):
    """Read a list of acts: a u8 count, then the acts, ascending."""
    acts = []
    for _ in range(reader.u8("acts")):
        act = reader.u8("act")
        codes.check("act", act, "act")
        if acts and act <= acts[-1]:
            raise Malformed("acts")
        acts.append(act)
    return acts
