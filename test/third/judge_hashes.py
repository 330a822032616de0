"""Vectors of draws, decks and hashes (internal/shuffle/testdata, hashes.json)."""

import decks
import draws
import ed25519
import hashes
import shuffles
from entries import Entry
from wire import Reader, blob16, str8, u8, u16, u64


def recipe_of(case):
    """Return a context with the members that the draws of a case need."""
    if "ranges" in case:
        return {"kind": 2, "ranges": case["ranges"]}
    end_at = {"form": 0}
    if "end_lo" in case:
        end_at = {"form": 2, "lo": case["end_lo"], "hi": case["end_hi"]}
    return {"kind": 1, "n": case["cards"], "m": case["take"], "end_at": end_at}


def spent(case):
    """Return the outcome of a run: the length of the tape, and an error or what was drawn."""
    context = recipe_of(case)
    ranges = draws.recipe_ranges(context)
    tape = bytes.fromhex(case["tape"])
    length = draws.tape_length(ranges)
    if len(tape) != length:
        return {"tape_len": length, "error": "tape_length"}
    try:
        values, end_at = draws.values_of_tape(context, tape)
        source = draws.Tape(tape)
        drawn = [draws.draw(source, k) for k in ranges]
    except draws.TapeOut:
        return {"tape_len": length, "error": "tape_exhausted"}
    got = {"tape_len": length, "draws": drawn, "values": values}
    if end_at is not None:
        got["end_at"] = end_at
    return got


def shuffle(vectors, report):
    """Judge shuffle.json."""
    asked = ("tape_len", "error", "draws", "values", "end_at")
    for case in vectors["runs"]:
        report(case["name"], {name: case[name] for name in asked if name in case}, spent(case))
    for case in vectors["mixes"]:
        p = draws.mix_positions(bytes.fromhex(case["seed"]), case["positions"])
        cut = case["cut"]
        report(f"mix of {case['positions']}", (case["p"], case["p_cut"]), (p, p[cut:] + p[:cut]))
    for case in vectors["shifts"]:
        report(f"shift of {case['ranges']}", case["shifted"], shifted(case))
    for case in vectors["numbers"]:
        report(case["name"], case["numbers"], draws.numbers(case["of"], case["draws"]))


def shifted(case):
    """Return the draws of a case after the mix."""
    moves = draws.mix_draws(bytes.fromhex(case["seed"]), case["ranges"])
    return [draws.shift(v, u, k) for v, u, k in zip(case["values"], moves, case["ranges"])]


def deck_list(text, report):
    """Judge decks.txt."""
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, count, want = line.split(" ")
        names = decks.published(name)
        for card in names:
            decks.check_name(card)
        report(name, (int(count), want), (len(names), decks.deck_hash(names).hex()))


def hashes_file(vectors, report):
    """Judge hashes.json."""
    raw = bytes.fromhex
    for case in vectors["commitments"]:
        report(case["name"], case["commitment"],
               hashes.commitment(raw(case["context"]), raw(case["tape"])).hex())
    for case in vectors["salts"]:
        got = hashes.salts(raw(case["commitment"]), raw(case["tape"]), len(case["salts"]))
        report(case["name"], case["salts"], [salt.hex() for salt in got])
    for case in vectors["leaves"]:
        leaf = hashes.position_leaf(raw(case["tag"]), case["position"], case["value"],
                                    raw(case["salt"]))
        report(case["name"], case["leaf"], leaf.hex())
    for case in vectors["shuffles"]:
        report(case["name"], case, whole_shuffle(case))
    for case in vectors["openings"]:
        path = [raw(item) for item in case["path"] or []]
        report(case["name"], case["opens"],
               hashes.opens(raw(case["deck_root"]), raw(case["tag"]), case["m"],
                            case["position"], case["value"], raw(case["salt"]), path))
    for case in vectors["slots"]:
        report(case["name"], case["slot_hash"],
               hashes.slot_hash(case["origin"], case["table"], raw(case["r"])).hex())
    for case in vectors["seeds"]:
        values = [raw(item["value"]) for item in case["values"] if item["source"] != 3]
        report(case["name"], case["seed"],
               hashes.mix_seed(raw(case["commit_entry"]), values).hex())
    for case in vectors["places"]:
        p = draws.mix_positions(raw(case["seed"]), case["m"])
        report(case["name"], case["positions"], p[case["cut"]:] + p[:case["cut"]])
    for case in vectors["shifts"]:
        got = shifted(case)
        report(case["name"], case["shown"],
               draws.numbers(case["of"], got) if "of" in case else got)
    more_hashes(vectors, report)


def more_hashes(vectors, report):
    """Judge the rest of hashes.json."""
    raw = bytes.fromhex
    for case in vectors["key_tags"]:
        report(case["name"], case["key_tag"],
               hashes.key_tag(case["origin"], case["identity"], case["table"], case["key"]).hex())
    for case in vectors["key_ids"]:
        report(case["name"], case["key_id"], hashes.key_id(raw(case["key"])).hex())
    for case in vectors["references"]:
        report(case["name"], case["reference"],
               hashes.reference(raw(case["salt"]), case["value"]))
    for case in vectors["children"]:
        got = [case["parent_values"][case["positions"][x]] for x in case["indexes"]]
        report(case["name"], case["values"], got)
    for case in vectors["credentials"]:
        got = hashes.credential_digest(hashes.credential_fields(case["fields"]),
                                       raw(case["hash"]))
        report(case["name"], case["digest"], got.hex())
    for case in vectors["approvals"]:
        entry = Entry(raw(case["entry"]))
        got = hashes.approval_digest(entry.type, entry.identity, entry.body_bytes)
        report(case["name"], case["digest"], got.hex())
    for case in vectors["acts"]:
        entry = Entry(raw(case["entry"]))
        message = hashes.act_message(raw(case["genesis_entry"]), entry.body)
        good = hashes.signed_by(entry.body["signatures"][0], raw(case["key"]), message)
        report(case["name"], (case["signed"], case["good"]), (message.hex(), good))
    for case in vectors["asks"]:
        report(case["name"], (case["seed"], case["signed"], True), asked(case))
    for case in vectors["states"]:
        got = hashes.sha256(hashes.label("state"), case["history"].encode())
        report(case["name"], case["state"], got.hex())
    for case in vectors["records"]:
        texts = [blob16(case[name].encode())
                 for name in ("request_id", "credential", "method", "path")]
        got = hashes.sha256(hashes.label("access"), raw(case["before"]), u64(case["number"]),
                            u64(case["time"]), *texts)
        report(case["name"], case["hash"], got.hex())


def asked(case):
    """Return the seed of the ask key, what is signed, and whether the signature holds."""
    raw = bytes.fromhex
    seed = hashes.hkdf(raw(case["commitment"]), raw(case["tape"]), hashes.label("ask-key"), 32)
    message = (hashes.label("ask") + u64(case["shuffle"]) + raw(case["commit_leaf"])
               + raw(case["after"]) + raw(case["state"]) + u16(case["first"])
               + u16(len(case["runs"])))
    for run in case["runs"]:
        message += (u16(run["cards"]) + u8(run["purpose"]) + str8(run.get("recipient", ""))
                    + u8(run.get("public", False)) + u16(run.get("round", 0)))
    good = ed25519.verify(raw(case["ask_key"]), message, raw(case["signature"]))
    return seed.hex(), message.hex(), good


def whole_shuffle(case):
    """Recompute a shuffle from its context and its tape. Return the case as it must be."""
    context_bytes, tape = bytes.fromhex(case["context"]), bytes.fromhex(case["tape"])
    reader = Reader(context_bytes)
    context = shuffles.context(reader, [])
    reader.end("context")
    values, end_at = draws.values_of_tape(context, tape)
    committed = hashes.commitment(context_bytes, tape)
    tag = hashes.leaf_tag(committed, context_bytes)
    root = hashes.deck_root(tag, values, hashes.salts(committed, tape, len(values)))
    got = dict(case, commitment=committed.hex(), tag=tag.hex(), values=values,
               deck_root=root.hex())
    if end_at is not None:
        got["end_at"] = end_at
    return got
