"""Parts of entries that several bodies share: keys, policies, extension lists (SPEC 5)."""

import codes
from errors import Malformed, Unknown
from wire import Reader

MAX_POLICY = 32_768
MAX_EXTENSION = 1_024
SIGNING_SIZES = {1: 33}
ENTRY_SIGNING_SIZES = {1: 33, 6: 1_313}
SEALING_SIZES = {1: 66, 2: 1_250}


def public_key(raw, sizes, field):
    """Check type and size of a key (SPEC 5.7)."""
    if not 2 <= len(raw) <= 2_048:
        raise Malformed(field)
    if raw[0] not in sizes:
        raise Unknown(field)
    if len(raw) != sizes[raw[0]]:
        raise Malformed(field)
    return raw


def sealing_key(raw, field):
    """A disclosure or auditor key: its point is uncompressed."""
    public_key(raw, SEALING_SIZES, field)
    if raw[-65] != 4:
        raise Malformed(field)
    return raw


def policy_text(raw):
    """A witness policy in an entry: printable ASCII and newlines (SPEC 1.2)."""
    if len(raw) > MAX_POLICY or any(b != 10 and not 32 <= b <= 126 for b in raw):
        raise Malformed("witness policy")
    return raw.decode("ascii")


def ascending(values, field):
    """A list that ascends, so that nothing stands in it twice."""
    if any(a >= b for a, b in zip(values, values[1:])):
        raise Malformed(field)
    return values


def extensions(reader, code_list, passed_over, known):
    """Read an extension list. known: a reader of the value by code; gives members by name."""
    members = {}
    others = []
    last = -1
    for _ in range(reader.u8("extensions")):
        code = reader.u8("extension")
        if code <= last:
            raise Malformed("extension")
        last = code
        if codes.check(code_list, code, "extension", passed_over):
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
    """u8 count, then each act, ascending."""
    acts = []
    for _ in range(reader.u8("acts")):
        act = reader.u8("act")
        codes.check("act", act, "act")
        if acts and act <= acts[-1]:
            raise Malformed("acts")
        acts.append(act)
    return acts
