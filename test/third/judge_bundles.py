"""Vectors of bundles (internal/inspect/testdata/bundles.json)."""

import base64

from judge_texts import manifest
from ledger import Ledger


def bundles(vectors, report):
    """Judge bundles.json, except the cases about a beacon."""
    contents = [base64.b64decode(item) for item in vectors["contents"]]
    for case in vectors["cases"]:
        if "beacon" in case["name"]:
            continue
        want = case["want"]
        want["faults"] = sorted(((f["code"], f.get("entry"), f.get("shuffle"), f.get("where", ""))
                                 for f in want["faults"]), key=str)
        trust = dict(case["trust"])
        if "auditor" in trust:
            trust["auditor"] = base64.b64decode(trust["auditor"])
        files = {path: contents[place] for path, place in case["files"].items()}
        got = Ledger(files, trust, case["at"], manifest).report()
        for member in ("verdict", "faults", "levels", "open", "overdue"):
            report(f"{case['name']}: {member}", want[member], got[member])


def golden(folder, want, report):
    """Judge a ledger of testdata/v1: its bundle, under a policy and with an auditor's key,
    against its report."""
    bundle = folder / "bundle"
    files = {path.relative_to(bundle).as_posix(): path.read_bytes()
             for path in bundle.rglob("*") if path.is_file()}
    private = (folder / "auditor").read_text("utf-8").strip().rpartition(":")[2]
    trust = {"policy": (folder / "policy").read_text("utf-8"), "auditor": base64.b64decode(private)}
    got = Ledger(files, trust, 0, manifest).report()
    report(f"{folder.name}: verdict", want["verdict"], got["verdict"])
    report(f"{folder.name}: levels", want["totals"]["levels"], got["levels"])
    report(f"{folder.name}: faults", [(f["code"], f.get("entry"), f.get("shuffle")) for f in want["faults"]],
           [fault[:3] for fault in got["faults"]])
