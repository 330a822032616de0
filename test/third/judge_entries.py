"""Vectors of entries and hashes (internal/audit/testdata)."""

import lost
from entries import Entry
from errors import Malformed, Unknown


def plain(value):
    """A parsed value as JSON: bytes in hex, and nothing that is 0, false or empty."""
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
    """The fields of an entry, with the policy and the co-dealer as the vectors write them."""
    return plain(entry.fields())


def entries(vectors, report):
    """entries.json."""
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
    """good, malformed or unknown."""
    try:
        Entry(raw)
        return "good"
    except Malformed:
        return "malformed"
    except Unknown:
        return "unknown"


def lost_entries(vectors, report):
    """lost.json."""
    for case in vectors["runs"]:
        hashes, tile = ([bytes.fromhex(item) or None for item in case[name]]
                        for name in ("hashes", "tile"))
        got = lost.lost_of_run(hashes, tile, bytes.fromhex(case["above"]))
        report(case["name"], (case["lost"], case["faults"]), got)
    for case in vectors["excuses"]:
        entry = Entry(bytes.fromhex(case["entry"]))
        got = lost.excused(case["rule"], entry, case["index"], case["lost"], case["undealt"])
        report(case["name"], case["excused"], got)
