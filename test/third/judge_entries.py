"""Vectors of entries (internal/audit/testdata) and of lost entries (internal/inspect/testdata)."""

import lost
from entries import Entry
from errors import Malformed, Unknown


def plain(value):
    """Return a parsed value as JSON has it: bytes in hex, and no member that is 0, false or empty."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        hidden = ("context_bytes", "runs_bytes", "signed_fields")
        members = {name: plain(item) for name, item in value.items() if name not in hidden}
        return {name: item for name, item in members.items() if item not in (0, "", [], {}, None)}
    return value


def fields_as_vectors(entry):
    """Return the fields of an entry as the vectors write them."""
    return plain(entry.fields())


def entries(vectors, report):
    """Judge entries.json."""
    for case in vectors["good"]:
        try:
            entry = Entry(bytes.fromhex(case["bytes"]))
            want = plain(case["fields"])
            passed = [f"{code_list} {code}" for code_list, code in entry.passed_over]
            report(case["name"], (want, case.get("passed_over", [])),
                   (fields_as_vectors(entry), passed))
        except (Malformed, Unknown) as error:
            report(case["name"], "good", repr(error))
    for case in vectors["bad"]:
        report(case["name"], case["want"], outcome_of(bytes.fromhex(case["bytes"])))


def outcome_of(raw):
    """Return good, malformed or unknown for the bytes of an entry."""
    try:
        Entry(raw)
        return "good"
    except Malformed:
        return "malformed"
    except Unknown:
        return "unknown"


def lost_entries(vectors, report):
    """Judge lost.json."""
    for case in vectors["runs"]:
        hashes, tile = ([bytes.fromhex(item) or None for item in case[name]]
                        for name in ("hashes", "tile"))
        got = lost.lost_of_run(hashes, tile, bytes.fromhex(case["above"]))
        report(case["name"], (case["lost"], case["faults"]), got)
    for case in vectors["excuses"]:
        entry = Entry(bytes.fromhex(case["entry"]))
        got = lost.excused(case["rule"], entry, case["index"], case["lost"], case["undealt"],
                           case.get("below", 0))
        report(case["name"], case["excused"], got)
