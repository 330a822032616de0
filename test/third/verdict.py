"""Verdicts that are not good: SPEC 10.4."""

TRANSCRIPT = ["format", "entries", "signature", "inclusion", "witnesses", "origin", "slots",
              "legality", "beacon", "deck", "terms", "openings", "asked", "tape", "order",
              "cards", "co_dealer", "statements"]
RECEIPT = ["format", "entries", "signature", "inclusion", "witnesses", "origin", "slots"]
NAMES = {"transcript": TRANSCRIPT, "receipt": RECEIPT}


def steps_of(kind, results):
    """Return all steps of a kind of file, in order, with their results."""
    return [{"name": name, "result": results.get(name, "not checked")} for name in NAMES[kind]]


def failed(kind, step, detail, results):
    """Return the verdict of a file that fails a step."""
    listed = steps_of(kind, dict(results, **{step: "failed"}))
    for item in listed:
        if item["name"] == step:
            item["detail"] = str(detail)
    return {"verdict": "failed", "failed": step, "kind": kind, "steps": listed,
            "production": False}


def cannot_judge(kind, what, case):
    """Return the verdict of a file that holds what this version does not know."""
    results = case.results if case is not None else {}
    return {"verdict": "cannot judge", "unknown": str(what), "kind": kind,
            "steps": steps_of(kind, results), "production": False}
