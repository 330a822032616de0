"""The bodies of entries about a shuffle: SPEC 5.2 to 5.6, 5.9, 5.12, 5.13."""

import codes
from errors import Malformed, Unknown
from fields import extensions

MAX_DEAL_VALUES = 64


def context(reader, passed_over):
    """Read a context (SPEC 5.2)."""
    body = {"origin": reader.origin("origin"), "genesis": reader.hash("genesis"),
            "production": reader.flag("production"), "table": reader.name("table")}
    body["algorithm"] = reader.u8("algorithm")
    if body["algorithm"] != 1:
        raise Malformed("algorithm") if body["algorithm"] == 0 else Unknown("algorithm")
    body["kind"] = reader.u8("kind")
    if not 1 <= body["kind"] <= 3:
        raise Malformed("kind") if body["kind"] == 0 else Unknown("kind")
    recipe(reader, body)
    if reader.flag("parent"):
        if body["kind"] != 1:
            raise Malformed("parent")
        body["parent"] = {"id": reader.u64("parent")}
        count = reader.u16("parent positions")
        if count != body["n"]:
            raise Malformed("parent positions")
        positions = [reader.u16("parent positions") for _ in range(count)]
        if len(set(positions)) != count:
            raise Malformed("parent positions")
        body["parent"]["positions"] = positions
    body["plan"] = plan(reader, body["kind"])
    body["end_at"] = end_at(reader, body)
    body["disclosure"] = reader.u8("disclosure")
    codes.check("disclosure", body["disclosure"], "disclosure")
    body.update(extensions(reader, "context_extension", passed_over,
                           {"terms": terms, "for_ledger": lambda r: r.origin("for_ledger")}))
    return body


def recipe(reader, body):
    """Read the fields that depend on the context's kind."""
    if body["kind"] == 1:
        body["deck_hash"] = reader.hash("recipe")
        body["n"] = reader.u16("recipe", low=2, high=4096)
        body["m"] = reader.u16("recipe", low=1, high=body["n"])
    elif body["kind"] == 2:
        count = reader.u16("recipe", low=1, high=4096)
        body["ranges"] = [reader.u32("recipe", low=1, high=2**30) for _ in range(count)]
    else:
        body["of"] = reader.u32("recipe", low=2, high=2**30)
        body["m"] = reader.u16("recipe", low=1, high=min(body["of"], 4096))


def plan(reader, kind):
    """Read a mix plan: at most 32 sources, in the order of SPEC 4."""
    sources = []
    order = {4: 0, 1: 1, 2: 2, 3: 3}
    for _ in range(reader.u8("mix plan", high=32)):
        source = reader.u8("mix source")
        codes.check("source", source, "mix source")
        if sources:
            last = sources[-1]["source"]
            if order[source] < order[last] or (source == last and source != 1):
                raise Malformed("mix plan")
        if source == 3 and kind != 1:
            raise Malformed("mix plan")
        item = {"source": source}
        if source == 1:
            item["slot_hash"] = reader.hash("slot hash")
            if item in sources:
                raise Malformed("mix plan")
        elif source == 2:
            item["chain_hash"] = reader.hash("chain hash")
            item["round"] = reader.u64("beacon round", low=1)
        elif source == 4:
            count = reader.u8("mix plan")
            if count != 1:
                raise Malformed("mix plan") if count == 0 else Unknown("mix plan")
            item["origin"] = reader.origin("mix plan")
            item["commit"] = {"index": reader.u64("mix plan"), "leaf": reader.hash("mix plan")}
        sources.append(item)
    return sources


def end_at(reader, body):
    """Read the place of the cut card. Draw lists and numbers have none (SPEC 2.2)."""
    form = reader.u8("end_at")
    if form > 2:
        raise Unknown("end_at")
    if form and body["kind"] != 1:
        raise Malformed("end_at")
    place = {"form": form}
    if form == 1:
        place["place"] = reader.u16("end_at", low=1, high=body["m"])
    elif form == 2:
        place["lo"] = reader.u16("end_at", low=1, high=body["m"])
        place["hi"] = reader.u16("end_at", low=place["lo"] + 1, high=body["m"])
    return place


def terms(reader):
    """Read the extension `terms`."""
    kind = reader.u8("terms")
    codes.check("terms", kind, "terms")
    if kind == 3:
        return {"kind": kind, "count": reader.u64("tickets"),
                "hash": reader.hash("root of the tickets")}
    return {"kind": kind, "hash": reader.hash("hash of the terms")}


def commit(reader, passed_over):
    """Read the body of a commit (SPEC 5.3). `context_bytes` are the bytes of the context, which
    the commitment binds."""
    inner = type(reader)(reader.blob16("context"))
    body = {"context": context(inner, passed_over), "context_bytes": inner.data}
    inner.end("context")
    body["commitment"] = reader.hash("commitment")
    body["deck_root"] = reader.hash("deck root")
    body["serial"] = reader.u64("serial", low=1)
    body["previous"] = reader.u64("previous")
    if (body["serial"] == 1) != (body["previous"] == 0):
        raise Malformed("previous")
    body["close_by"] = reader.u64("close-by")
    body["game_reference"] = reader.name_or_empty("game reference")
    body["key_tag"] = reader.hash("key tag")
    body["request_hash"] = reader.hash("request hash")
    body["instance"] = reader.u64("instance")
    body.update(extensions(reader, "commit_extension", passed_over,
                           {"ask_key": lambda r: r.hash("ask_key")}))
    return body


def mix(reader, _passed_over):
    """Read the body of a mix (SPEC 5.4)."""
    body = {"shuffle": reader.u64("shuffle"), "checkpoint": reader.u64("checkpoint"),
            "values": []}
    for _ in range(reader.u8("mix values", low=1, high=32)):
        source = reader.u8("mix source")
        codes.check("source", source, "mix source")
        if source == 4:
            raise Malformed("mix source")
        if source == 3:
            body["values"].append({"source": 3, "cut": reader.u16("cut")})
        else:
            size = 32 if source == 1 else 48
            body["values"].append({"source": source, "value": reader.take(size, "value")})
    return body


def deal(reader, passed_over):
    """Read the body of a deal (SPEC 5.5)."""
    body = {"shuffle": reader.u64("shuffle"), "first_place": reader.u16("first place"),
            "checkpoint": reader.u64("checkpoint"), "final": reader.flag("final")}
    start = reader.position
    body["runs"] = []
    end = body["first_place"]
    for _ in range(reader.u16("runs", low=1, high=512)):
        run = {"cards": reader.u16("run count", low=1)}
        end += run["cards"]
        if end > 4096:  # ahead of the purpose, because the first fault counts (SPEC 1.4)
            raise Malformed("runs")
        run["purpose"] = reader.u8("purpose")
        codes.check("purpose", run["purpose"], "purpose", passed_over)
        run["recipient"] = reader.name_or_empty("recipient")
        run["public"] = reader.flag("public")
        run["round"] = reader.u16("round")
        body["runs"].append(run)
    body["runs_bytes"] = reader.data[start:reader.position]
    body.update(extensions(reader, "deal_extension", passed_over,
                           {"asked": asked, "blind": blind}))
    return body


def asked(reader):
    """Read the extension `asked` of a deal."""
    return {"commit": {"index": reader.u64("asked"), "leaf": reader.hash("asked")},
            "after": reader.hash("asked"),
            "head": {"index": reader.u64("asked"), "leaf": reader.hash("asked")},
            "state": reader.hash("asked"), "ask": reader.take(64, "asked")}


def blind(reader):
    """Read the extension `blind` of a deal or close. Entry 0 stands for no deal."""
    body = {"deal": {"index": reader.u64("blind"), "leaf": reader.hash("blind")},
            "head": {"index": reader.u64("blind"), "leaf": reader.hash("blind")}}
    count = reader.u16("blind", high=MAX_DEAL_VALUES)
    body["values"] = [reader.u32("blind") for _ in range(count)]
    if body["deal"]["index"] == 0 and (body["deal"]["leaf"] != bytes(32) or body["values"]):
        raise Malformed("blind")
    return body


def follows(reader):
    """Read the extension `follows` of a close."""
    return {"index": reader.u64("follows"), "leaf": reader.hash("follows"),
            "places": reader.u16("follows")}


def tape(reader, body):
    """Read what a close or disclosure discloses, by its form (SPEC 5.6)."""
    if body["form"] == 1:
        body["tape"] = reader.blob16("tape")
        if not 1 <= len(body["tape"]) <= 32_768:
            raise Malformed("tape")
    elif body["form"] == 2:
        body["disclosure_key"] = reader.u64("disclosure key")
        body["tape"] = reader.blob16("tape")
        if not 1 <= len(body["tape"]) <= 33_937:
            raise Malformed("tape")


def close(reader, passed_over):
    """Read the body of a close (SPEC 5.6)."""
    body = {"shuffle": reader.u64("shuffle"), "entries": reader.u16("entries"),
            "outcome": reader.u8("outcome")}
    codes.check("outcome", body["outcome"], "outcome")
    body["reason"] = reader.u8("reason")
    if body["outcome"] == 4:
        codes.check("reason", body["reason"], "reason", passed_over)
    elif body["reason"]:
        raise Malformed("reason")
    body["form"] = reader.u8("form")
    codes.check("form", body["form"], "form")
    nothing = body["outcome"] == 3 or body["reason"] == 10
    if nothing != (body["form"] == 0):
        raise Malformed("form")
    tape(reader, body)
    body.update(extensions(reader, "close_extension", passed_over,
                           {"blind": blind, "follows": follows}))
    return body


def disclosure(reader, passed_over):
    """Read the body of a disclosure (SPEC 5.13)."""
    body = {"shuffle": reader.u64("shuffle"), "entries": reader.u16("entries"),
            "form": reader.u8("form")}
    codes.check("form", body["form"], "form")
    tape(reader, body)
    body.update(extensions(reader, "disclosure_extension", passed_over, {}))
    return body


def takeover(reader, _passed_over):
    """Read the body of a takeover (SPEC 5.9)."""
    body = {"shuffle": reader.u64("shuffle"), "extent": reader.u8("extent")}
    codes.check("extent", body["extent"], "extent")
    body["reason"] = reader.reason("reason")
    return body


def reveal(reader, passed_over):
    """Read the body of a reveal (SPEC 5.12)."""
    body = {"shuffle": reader.u64("shuffle"), "final": reader.flag("final"),
            "exposed": reader.flag("exposed"), "places": []}
    for _ in range(reader.u16("places", low=1, high=4096)):
        place = reader.u16("place", high=4095)
        if body["places"] and place <= body["places"][-1]:
            raise Malformed("places")
        body["places"].append(place)
    body.update(extensions(reader, "reveal_extension", passed_over, {}))
    return body
