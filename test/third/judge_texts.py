"""Vectors of receipts, checkpoints, the form of transcripts, manifests, terms and tickets."""

import json
import re
from datetime import datetime

import terms
from entries import Entry
from errors import Malformed, Unknown
from notes import Checkpoint, Receipt, parse_vkey
from transcript import Transcript


def step_of_receipt(text, key):
    """Return the first step that a receipt fails under this key, and the receipt if it was read.
    The step is `proved` if none fails."""
    try:
        receipt = Receipt(text)
    except Malformed:
        return "format", None
    except Unknown:
        return "cannot judge", None
    try:
        entry = Entry(receipt.entry)
    except Malformed:
        return "entries", receipt
    except Unknown:
        return "cannot judge", receipt
    if (receipt.index == 0) != (entry.kind == "genesis"):
        return "entries", receipt
    if key.name != receipt.checkpoint.origin or not receipt.checkpoint.signed_by(key):
        return "signature", receipt
    return ("proved" if receipt.included() else "inclusion"), receipt


def receipts(vectors, report):
    """Judge receipts.json."""
    for case in vectors["receipts"]:
        key = parse_vkey(case.get("vkey", vectors["vkey"]), (1, 6), 128)
        got, receipt = step_of_receipt(case["text"], key)
        report(case["name"], case["step"], got)
        if "entry" in case:
            report(case["name"], (case["entry"], case.get("index", 0), case["size"]),
                   (receipt.entry.hex(), receipt.index, receipt.checkpoint.size))
    key = parse_vkey(vectors["vkey"], (1, 6), 128)
    for case in vectors["checkpoints"]:
        try:
            checkpoint = Checkpoint(case["signed"])
        except Malformed:
            report(case["name"], case["step"], "format")
            continue
        signed = key.name == checkpoint.origin and checkpoint.signed_by(key)
        report(case["name"], case["step"], "proved" if signed else "signature")
        if "root" in case:
            report(case["name"], (case["origin"], case["size"], case["root"]),
                   (checkpoint.origin, checkpoint.size, checkpoint.root.hex()))


def transcripts(vectors, report):
    """Judge transcripts.json: the JSON alone, without the texts in it."""
    for case in vectors["good"] + vectors["bad"]:
        report(case["name"], case.get("want", "good"),
               outcome(Transcript, case["text"].encode("utf-8", "surrogatepass"), "good"))


def outcome(reader, value, good):
    """Return malformed, unknown, or else `good`; without a `good`, return what the reader returned."""
    try:
        result = reader(value)
        return good or result
    except Malformed:
        return "malformed"
    except Unknown:
        return "unknown"


def terms_file(vectors, report):
    """Judge terms.json."""
    for case in vectors["documents"]:
        document = bytes.fromhex(case["document"])
        wheel = case["kind"] == "wheel"
        reader = terms.read_wheel if wheel else terms.read_pay_table
        got = outcome(reader, document, None)
        report(case["name"], case["want"], got if isinstance(got, str) and
               got in ("malformed", "unknown") else "ok")
        if "hash" in case:
            kind = terms.WHEEL if wheel else terms.PAY_TABLE
            report(case["name"], case["hash"], terms.document_hash(kind, document).hex())
        if "labels" in case:
            report(case["name"], (case["labels"], case["total"]), got)
    for case in vectors["lists"]:
        salts, leaves, root = terms.list_root(bytes.fromhex(case["secret"]), case["lines"])
        report(case["name"], (case["salts"], case["leaves"], case["root"]),
               ([s.hex() for s in salts], [leaf.hex() for leaf in leaves], root.hex()))
    for case in vectors["tickets"]:
        report(case["name"], case["want"], outcome(terms.judge_proof, case["text"], None))


def once(pairs):
    """Return a JSON object as a dict. Raise ValueError if a member is repeated."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a member twice")
    return dict(pairs)


def manifest(text):
    """Judge a manifest (SPEC 13.3): ok, malformed or unknown."""
    try:
        value = json.loads(text, object_pairs_hook=once)
        later = re.fullmatch("shuffled/v([1-9][0-9]{0,9})/bundle", value["format"])
        if later and later[1] != "1":
            return "unknown"
        period = {name: value["period"][name] for name in ("from", "to") if name in value["period"]}
        same = {"format": "shuffled/v1/bundle", "period": period, "exported_at": value["exported_at"]}
        times = [*period.values(), value["exported_at"]]
        for time in times:
            datetime.strptime(time, "%Y-%m-%dT%H:%M:%S.%fZ")
        good = all(len(time) == 24 for time in times) and json.dumps(same, separators=(",", ":")) == text
        return "ok" if good and (len(period) < 2 or period["from"] < period["to"]) else "malformed"
    except (ValueError, TypeError, KeyError):
        return "malformed"


def manifests(vectors, report):
    """Judge manifests.json."""
    for case in vectors["cases"]:
        report(case["name"], case["want"], manifest(case["text"]))
