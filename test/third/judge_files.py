"""Vectors of whole files (internal/verify/testdata/vectors)."""

import base64

from verify import verify


def content(case):
    """Return the bytes of a case's file."""
    if "file_base64" in case:
        return base64.b64decode(case["file_base64"])
    return case.get("file", "").encode("utf-8")


def got_for(want, found):
    """Return the members of a verdict that a vector names. Some members are returned even if the
    vector does not name them, so that they are a mismatch."""
    got = {}
    for name in want:
        if name in ("shows", "labels"):
            member = "label" if name == "labels" else name
            got[name] = [card.get(member) for card in found.get("cards", [])]
        else:
            got[name] = found.get(name)
    for name in ("failed", "level", "witnesses", "late", "overlap", "mixed", "blind", "not_blind",
                 "dealt_on", "not_dealt_on", "key_in_force"):
        if name in found and name not in want:
            got[name] = found[name]
    return got


def judge(case, report, bls):
    """Judge one vector. Without BLS its member `without_bls` replaces `want`, if there is one."""
    want = dict(case["want"])
    without = want.pop("without_bls", None)
    if without is not None and not bls:
        want = without
    found = verify(content(case), case["trust"])
    report(case["name"], want, got_for(want, found))
    return found
