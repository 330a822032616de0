"""Judge all vectors: python3 run.py [tree], by default the tree of this file.

It fails if a case is a mismatch, or if a file has no case.
"""

import json
import sys
from pathlib import Path

import judge_bundles
import judge_disclosure
import judge_entries
import judge_files
import judge_hashes
import judge_legality
import judge_texts
import terms

FILES = [
    ("shuffle/testdata/shuffle.json", judge_hashes.shuffle),
    ("shuffle/testdata/decks.txt", judge_hashes.deck_list),
    ("audit/testdata/hashes.json", judge_hashes.hashes_file),
    ("audit/testdata/entries.json", judge_entries.entries),
    ("audit/testdata/receipts.json", judge_texts.receipts),
    ("audit/testdata/transcripts.json", judge_texts.transcripts),
    ("audit/testdata/legality.json", judge_legality.legality),
    ("audit/testdata/ledgers.json", judge_legality.ledgers),
    ("audit/testdata/faulty.json", judge_legality.faulty),
    ("bundle/testdata/manifests.json", judge_texts.manifests),
    ("inspect/testdata/lost.json", judge_entries.lost_entries),
    ("inspect/testdata/bundles.json", judge_bundles.bundles),
    ("terms/testdata/terms.json", judge_texts.terms_file),
    ("disclosure/testdata/disclosure.json", judge_disclosure.judge),
]
SKIPPED = {
    "inspect/testdata/pair.json": "it needs the audit of a pair of ledgers (SPEC-BLIND 9), which this verifier leaves out",
    "inspect/testdata/conduct.json": "an example of a report, without its ledger: it is no vector",
}
WHOLE_FILES = "verify/testdata/vectors"
GOLDEN = "../testdata/v1"


class Counter:
    """Counts cases and mismatches of one file."""

    def __init__(self, name):
        self.name = name
        self.cases = self.mismatches = 0

    def report(self, case, want, got):
        """Compare one case."""
        self.cases += 1
        if want != got:
            self.mismatches += 1
            print(f"MISMATCH {self.name}: {case}\n  want {want!s:.400}\n  got  {got!s:.400}")

    def done(self):
        """Print the counts; a file without cases is a failure."""
        print(f"{self.name}: {self.cases} cases, {self.mismatches} mismatches")
        return self.cases > 0 and self.mismatches == 0


def load(path):
    """Return a file of vectors: JSON, or lines of text."""
    text = path.read_text("utf-8")
    return json.loads(text) if path.suffix == ".json" else text


def judge_all(root):
    """Judge every file below a folder. Return whether all are good."""
    known = {name for name, _ in FILES} | set(SKIPPED)
    found = {str(path.relative_to(root)) for path in root.glob("*/testdata/*")
             if path.suffix in (".json", ".txt")}
    good = True
    for name in sorted(found - known):
        print(f"UNKNOWN {name}: no reader for these vectors")
        good = False
    for name, reason in SKIPPED.items():
        print(f"SKIPPED {name}: {reason}")
    for name, judge in FILES:
        counter = Counter(name)
        judge(load(root / name), counter.report)
        good = counter.done() and good
    for folder in ("good", "bad"):
        counter = Counter(f"{WHOLE_FILES}/{folder}")
        for path in sorted((root / WHOLE_FILES / folder).glob("*.json")):
            judge_files.judge(load(path), counter.report, False)
        good = counter.done() and good
    golden = root / GOLDEN  # test/golden fails without it
    return (not golden.exists() or judge_golden(golden)) and good


def judge_golden(root):
    """Judge what version 1 wrote: files, proofs of tickets, and whole ledgers."""
    counter = Counter("testdata/v1")
    for path in sorted((root / "files").glob("*.json")):
        judge_files.judge(load(path), counter.report, False)
    for case in load(root / "tickets.json")["tickets"]:
        counter.report(case["name"], case["want"], judge_texts.outcome(terms.judge_proof, case["text"], None))
    for folder in sorted(path for path in (root / "ledgers").iterdir() if path.is_dir()):
        judge_bundles.golden(folder, load(folder / "report.json"), counter.report)
    return counter.done()


if __name__ == "__main__":
    here = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    sys.exit(0 if judge_all(here / "internal") else 1)
