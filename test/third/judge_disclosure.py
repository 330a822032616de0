"""Vectors of disclosure (internal/disclosure/testdata)."""

import disclosure
import hashes


def judge(vectors, report):
    """Judge disclosure.json."""
    raw = bytes.fromhex
    for case in vectors["wraps"]:
        report(case["name"], (case["opens"], case.get("disclosure_private")), wrap(case))
    for case in vectors["tapes"]:
        try:
            key = disclosure.SealingKey(case["type"], raw(case["disclosure_private"]))
            tape = disclosure.open_tape(key, case["origin"], case["shuffle"],
                                        raw(case["commitment"]), raw(case["sealed"])).hex()
            got = (True, tape)
        except disclosure.DoesNotOpen:
            got = (False, None)
        report(case["name"], (case["opens"], case.get("tape")), got)


def wrap(case):
    """Open a wrap with an auditor's key. Return whether it opens, and the private key if the case has it."""
    raw = bytes.fromhex
    try:
        auditor = disclosure.SealingKey(case["type"], raw(case["auditor_private"]))
        if hashes.key_id(auditor.public).hex() != case["auditor_id"]:
            return (False, "another auditor's id")
        private = disclosure.open_wrap(auditor, case["origin"], raw(case["disclosure_public"]),
                                       raw(case["sealed"]))
        return (True, private.hex() if "disclosure_private" in case else None)
    except disclosure.DoesNotOpen:
        return (False, None)
