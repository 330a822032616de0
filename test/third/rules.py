"""The rules of every entry, and those of acts, credentials and events: SPEC 9."""

import hashes
from errors import Broken
from rules_commit import holds
from rules_keys import administrators_rule, co_dealer_pin, genesis_key, key_entry
from rules_shuffle import SHUFFLE_RULES
from shuffle_state import CANCEL, CONTINUED, KILL_CLEAR, LATCH_CLEAR, is_tape_lost
from state import switch
from wire import RESERVED

DAY = 24 * 3600 * 1000
ACT_OF_SUBJECT = {4: 1, 3: 2, 1: 3, 5: 4, 6: 8, 7: 11, 8: 13}
ACT_OF_EVENT = {10: 5, 7: 6, 5: 7}
WAITING_ACTS = (LATCH_CLEAR, KILL_CLEAR)
ADMIN, DEALER, BLIND = 3, 1, 5


def check(state, entry):
    """Raise Broken with the first rule of SPEC 9 that an entry breaks."""
    genesis_first(state, entry)
    holds(entry.time >= state.time, "time")
    pair(state, entry)
    two_persons(state, entry)
    credential_rule(state, entry)
    for rule in SHUFFLE_RULES.get(entry.kind, []) + OTHER_RULES.get(entry.kind, []):
        rule(state, entry)


def genesis_first(state, entry):
    """Check the rule genesis_first: entry 0, and no other, is a genesis. Without a genesis every
    entry breaks the rule."""
    holds((state.size == 0) == (entry.kind == "genesis"), "genesis_first")
    holds(state.genesis is not None or state.size == 0, "genesis_first")


def approving_act(entry):
    """Return the act that 5.11 lists for an entry of this kind, or None."""
    if entry.kind == "key":
        return ACT_OF_SUBJECT.get(entry.body["subject"])
    if entry.kind == "event":
        return ACT_OF_EVENT.get(entry.body["kind"])
    if entry.kind == "credential" and entry.body["kind"] == 1 and entry.body["role"] == ADMIN:
        return 9
    if entry.kind == "takeover" and entry.body["extent"] == 2:
        return 10
    return None


def digest_of(entry):
    """Return the digest by which an act approves this entry."""
    return hashes.approval_digest(entry.type, entry.identity, entry.body_bytes)


def pair(state, entry):
    """Check the rule pair: if the entry before this one needs a certain entry behind it, this is it."""
    if state.pair is None:
        return
    waits_for = state.pair[0]
    body = entry.body
    if waits_for == "act":
        good = approving_act(entry) == state.pair[1] and digest_of(entry) == state.pair[2]
    elif waits_for == "final":
        _, shuffle, reveal_allowed = state.pair
        good = (entry.kind == "close" and body["shuffle"] == shuffle.id
                and body["outcome"] != CONTINUED)
        good = good or (reveal_allowed and entry.kind == "reveal" and body["final"]
                        and body["shuffle"] == shuffle.id)
    elif waits_for == "continue":
        good = (entry.kind == "close" and body["shuffle"] == state.pair[1].id
                and body["outcome"] == CONTINUED)
    else:
        good = (entry.kind == "disclosure" and body["shuffle"] == state.pair[1].id
                and entry.identity == state.pair[2])
    holds(good, "pair", waits_for)


def two_persons(state, entry):
    """Check the rule two_persons: if the entry's act is on the list two persons, such an act
    approves the entry."""
    act = approving_act(entry)
    if act is None or act not in state.two_persons:
        return
    if state.pair is not None and state.pair[0] == "act":
        return
    digest = digest_of(entry)
    for waiting in state.waiting_acts:
        if (waiting["digest"] == digest and waiting["act"] == act
                and waiting["expires"] > entry.time):
            holds(entry.time - waiting["time"] >= state.delay, "two_persons")
            return
    raise Broken("two_persons")


def roles_of(state, entry):
    """Return the roles that may write an entry."""
    body = entry.body
    if entry.kind in ("key", "credential", "event") or is_tape_lost(body):
        return (ADMIN,)
    if entry.kind == "act":
        return (ADMIN, DEALER) if body["act"] == 10 else (ADMIN,)
    if entry.kind == "disclosure":
        return (ADMIN, DEALER)
    if entry.kind == "close":
        return (DEALER, BLIND)
    if entry.kind == "commit" and "for_ledger" in body["context"]:
        return (BLIND,)
    if entry.kind == "deal" and "asked" in body:
        return (BLIND,)
    return (DEALER,)


def credential_rule(state, entry):
    """Check the rule credential of an identity that is not reserved."""
    if entry.identity in RESERVED:
        return
    if not state.credential_created and not (state.genesis or entry.body).get("production"):
        return
    credential = state.credentials.get(entry.credential)
    holds(credential is not None and credential["identity"] == entry.identity
          and not credential["revoked"], "credential", "none")
    holds(not credential["expires"] or entry.time < credential["expires"], "credential",
          "expired")
    holds(credential["role"] in roles_of(state, entry), "credential", "role")
    table = state.shuffle_table(entry)
    if table is not None and credential["tables"]:
        holds(table in credential["tables"], "credential", "table")


def credential_entry(state, entry):
    """Check the rule credential of a credential entry: created once, then revoked once."""
    body = entry.body
    known = state.credentials.get(body["credential"])
    if body["kind"] == 1:
        holds(known is None and body["credential"] not in RESERVED
              and body["identity"] not in RESERVED, "credential")
    else:
        holds(known is not None and not known["revoked"], "credential")


def act_entry(state, entry):
    """Check the rule act."""
    body = entry.body
    two = body["act"] in state.two_persons and body["act"] != CANCEL
    holds(body["previous"] == state.newest_act, "act", "previous")
    holds(1 <= body["head_size"] <= state.size, "act", "head")
    longest = DAY
    if two and body["act"] in WAITING_ACTS:
        longest += state.delay
    holds(entry.time < body["expires"] <= entry.time + longest, "act", "expires")
    message = hashes.act_message(state.genesis_entry, body)
    for signature in body["signatures"]:
        key = state.administrators.get(signature["administrator"])
        holds(key is not None and hashes.signed_by(signature, key, message), "act", "signature")
    if two and len(body["signatures"]) == 1:
        holds(body["act"] in WAITING_ACTS, "act", "one administrator")
        holds(body["expires"] > entry.time + state.delay, "act", "expires before it counts")
    if body["act"] == CANCEL:
        holds(any(act["digest"] == body["digest"] and act["expires"] > entry.time
                  for act in state.waiting_acts), "act", "nothing waits")


def event_rules(state, entry):
    """Check the rules table, kill, instance and latch of an event."""
    body = entry.body
    kind = body["kind"]
    if kind in (2, 3):
        known = state.tables.get(body["table"])
        is_open = known is not None and known.open
        holds(is_open == (kind == 3), "table")
    elif kind in (4, 5):
        holds((switch(body) in state.kills) == (kind == 5), "kill")
    elif kind == 6:
        holds(body["instance"] in state.instances, "instance")
    elif kind == 7:
        holds(state.latch, "latch")


OTHER_RULES = {
    "credential": [credential_entry],
    "act": [act_entry],
    "genesis": [genesis_key, administrators_rule],
    "key": [key_entry, co_dealer_pin, administrators_rule],
    "event": [event_rules],
}
