"""Levels, and the verdict of a file whose steps all hold: SPEC 10.2, 10.5."""

import codes
import rules_commit
import said
import verdict
from notes import vkey_of
from said import rfc3339
from wire import to_base64


def gives_level(policy, origin, keys):
    """Whether a policy gives a level above recorded."""
    if policy is None or policy.overlap() == 0:
        return False
    return not any(key.name == origin or any(key.typed == shown.typed for shown in keys)
                   for _, key in policy.lines)


def witness_list(policy, checkpoint):
    """Return the witnesses that cosigned, in the order of the policy's lines."""
    return [{"name": name, "time": rfc3339(time * 1000)}
            for name, _, time in policy.cosignatures(checkpoint)]


def base(kind, trust, results, checkpoint):
    """Return verdict, level, steps and ledger of a file whose steps hold."""
    proved = bool(trust.pinned)
    return {"verdict": "proved" if proved else "consistent",
            "level": "recorded" if proved else "key not pinned", "kind": kind,
            "steps": verdict.steps_of(kind, results), "ledger": checkpoint.origin,
            "checkpoint": {"origin": checkpoint.origin, "size": checkpoint.size},
            "key_in_force": "not_shown"}


def late_member(found, trust, checkpoint):
    """Add the other witnesses of the policy that cosigned the checkpoint of a proved file. A
    witness with several lines in the policy is one witness."""
    if found["verdict"] != "proved" or trust.policy is None or trust.policy.quorum == "none":
        return
    whose = trust.policy.witness_of
    named = {whose[one["name"]] for one in found.get("witnesses", [])}
    late = [one for one in witness_list(trust.policy, checkpoint)
            if whose[one["name"]] not in named]
    if late:
        found["late"] = late


def receipt(file, entry, trust, results):
    """Return the verdict of a receipt whose steps hold."""
    checkpoint = file.checkpoint
    found = base("receipt", trust, results, checkpoint)
    shown = entry.body.get("signing_key") if entry.kind == "genesis" else None
    if entry.kind == "key" and entry.body["subject"] == 1:
        shown = entry.body["key"]
    keys = [vkey_of(checkpoint.origin, shown)] if shown else []
    if results["witnesses"] == "ok" and found["verdict"] == "proved" \
            and gives_level(trust.policy, checkpoint.origin, keys):
        found["level"] = "witnessed"
        found["witnesses"] = witness_list(trust.policy, checkpoint)
        found["overlap"] = trust.policy.overlap()
    late_member(found, trust, checkpoint)
    body = entry.body
    source = body if entry.kind == "genesis" else body.get("context", {})
    found["production"] = bool(source.get("production", False))
    found["entry"] = {"index": file.index, "type": codes.name("entry", entry.type),
                      "identity": entry.identity, "credential": entry.credential}
    if rfc3339(entry.time):
        found["entry"]["time"] = rfc3339(entry.time)
    said.passed_over(found, [(file.index, entry)])
    if entry.kind == "commit":
        said.commit_members(found, file.index, entry)
    elif body.get("shuffle"):
        found["id"] = body["shuffle"]
    if entry.kind == "close":
        found["state"] = "continued" if body["outcome"] == 3 else "closed"
        said.close_members(found, entry)
    return found


def witnessed_second(case):
    """Return the second at which the quorum was complete if that gives the level `witnessed`, or None."""
    policy, file = case.trust.policy, case.file
    if case.results["witnesses"] != "ok" or not case.trust.pinned or file.witnessed is None:
        return None
    shown = [vkey_of("", key) for _, key, _ in case.key_entries]
    shown.append(vkey_of("", case.genesis.body["signing_key"]))
    if not gives_level(policy, file.checkpoint.origin, shown):
        return None
    second = policy.complete(file.witnessed.checkpoint)
    if second is None:
        return None
    first = next(((i, e) for i, e in case.played if e.kind in ("mix", "deal")), None)
    if first is not None:
        late = second * 1000 > first[1].time + 10_000
        if file.witnessed.checkpoint.size > first[0] or late:
            return None
    return second


def mixed_for(case, second):
    """Return for whom a transcript is mixed (SPEC 10.5)."""
    context = case.context
    beacon = rules_commit.plan_source(context, 2)
    if case.mix is None or rules_commit.plan_source(context, 3) or "parent" in context:
        return []
    if context["kind"] == 1 and context["m"] < context["n"]:
        return []
    given = []
    checked = case.results["beacon"] == "ok"
    if checked and second < rules_commit.round_time(beacon["round"]):
        time = rules_commit.round_time(beacon["round"]) * 1000
        given.append({"for": "everybody", "witnessed": rfc3339(second * 1000),
                      "round": beacon["round"], "time": rfc3339(time)})
    if case.results["slots"] == "ok" and (beacon is None or checked):
        for slot in case.held:
            given.append({"for": "slot", "witnessed": rfc3339(second * 1000),
                          "slot": to_base64(slot)})
    return given


def transcript(case):
    """Return the verdict of a transcript whose steps hold."""
    found = base("transcript", case.trust, case.results, case.file.checkpoint)
    found["production"] = case.genesis.body["production"]
    if case.file.keys:
        del found["key_in_force"]
    second = witnessed_second(case)
    mixed = []
    if second is not None:
        found["level"] = "witnessed"
        found["witnesses"] = witness_list(case.trust.policy, case.file.witnessed.checkpoint)
        found["overlap"] = case.trust.policy.overlap()
        mixed = mixed_for(case, second)
        if mixed:
            found["level"], found["mixed"] = "mixed", mixed
    late_member(found, case.trust, case.file.checkpoint)
    said.shuffle_members(case, found)
    said.terms_member(case, found, mixed)
    said.cards_member(case, found)
    said.blind_members(case, found)
    said.dealt_on_members(case, found)
    if case.stated is not None:
        found["statements"] = case.stated
    return found
