"""Vectors of legality (internal/audit/testdata)."""

import rules
from entries import Entry
from errors import Broken, Malformed, Unknown
from state import State


def fold(entries):
    """Return the state after entries that must all be legal."""
    state = State()
    for entry in entries:
        rules.check(state, entry)
        state.apply(entry)
    return state


def rule_of(prefix, entry):
    """Return ok, unknown, or the code of the first rule that an entry breaks."""
    try:
        state = fold(prefix)
    except (Broken, Unknown) as error:
        return f"prefix breaks {error}"
    try:
        rules.check(state, entry)
        return "ok"
    except Broken as error:
        return error.rule
    except Unknown:
        return "unknown"


def legality(vectors, report):
    """Judge legality.json."""
    entries = [Entry(bytes.fromhex(raw)) for raw in vectors["entries"]]
    for case in vectors["cases"]:
        report(case["name"], case["rule"],
               rule_of([entries[i] for i in case["prefix"]], entries[case["next"]]))


def faults_of(ledger):
    """Return the faults of a whole ledger, by index (SPEC 9.1). No fault is excused."""
    state, faults = State(), []
    for index, raw in enumerate(ledger):
        try:
            entry = Entry(raw)
        except (Malformed, Unknown) as error:
            faults.append((index, "malformed" if isinstance(error, Malformed) else "unknown"))
            state.skip()
            continue
        try:
            rules.check(state, entry)
        except Broken as error:
            faults.append((index, error.rule))
        state.apply(entry)
    return faults


def faulty(vectors, report):
    """Judge faulty.json: whole ledgers with faults."""
    entries = [bytes.fromhex(raw) for raw in vectors["entries"]]
    for case in vectors["cases"]:
        report(case["name"], [(fault["entry"], fault["rule"]) for fault in case["faults"]],
               faults_of([entries[i] for i in case["ledger"]]))


def ledgers(vectors, report):
    """Judge ledgers.json: whole ledgers that are legal."""
    for case in vectors["cases"]:
        try:
            fold([Entry(bytes.fromhex(raw)) for raw in case["entries"]])
            got = "ok"
        except (Broken, Unknown, Malformed) as error:
            got = repr(error)
        report(case["name"], "ok", got)
