"""The rules of keys, administrators and co-dealers of a ledger: SPEC 9."""

import ed25519
import hashes
import p256
from errors import Broken, Malformed, Unknown
from policy import Policy
from rules_commit import holds


def signing_point(key):
    """Whether a signing key is proper. An ML-DSA-44 key always is."""
    return key[0] == 6 or ed25519.is_key(key[1:])


def policy_good(text, rule):
    """Read a policy, for a rule that a malformed policy breaks. One that needs a later key type
    raises Unknown."""
    try:
        return Policy(text)
    except Malformed as error:
        raise Broken(rule, "policy") from error


def policy_rule(genesis, text, signing_keys):
    """Check the witness policy of a genesis or key entry (SPEC 7.3)."""
    policy = policy_good(text, "key")
    holds(genesis["deals"] == 1 or policy.quorum != "none", "key", "quorum none")
    for _, key in policy.lines:
        holds(key.name != genesis["origin"], "key", "a witness with the origin's name")
        holds(key.typed not in signing_keys, "key",
              "a witness with a signing key")


def genesis_key(_state, entry):
    """Check the rule key of a genesis."""
    body = entry.body
    holds(signing_point(body["signing_key"]), "key", "signing key")
    types = {key[0] for key in body["auditors"]}
    holds(all(map(p256.is_sealing_key, body["auditors"])) and len(types) <= 1, "key", "auditor")
    holds(not body["production"] or types <= {2}, "key", "type of the auditors")
    for item in body["administrators"]:
        holds(signing_point(item["key"]) and item["key"] != body["signing_key"], "key",
              "administrator")
    if body["policy"]:
        policy_rule(body, body["policy"], [body["signing_key"]])


def sealing_type_good(state, key):
    """Whether a key has the type of the auditor keys in force, and in production type 2."""
    types = {known[0] for known in state.auditors}
    return ((not types or key[0] in types)
            and (not state.genesis["production"] or key[0] == 2))


def key_entry(state, entry):
    """Check the rule key of a key entry."""
    body = entry.body
    subject = body["subject"]
    if subject == 1:
        holds(signing_point(body["key"]), "key", "signing key")
        holds(body["key"] not in state.signing_known, "key", "it stood below")
        holds(body["key"] not in state.administrator_keys, "key", "an administrator's")
        holds(not witness_has(state.policy_text, body["key"]), "key", "a witness's")
    elif subject in (2, 3):
        holds(p256.is_sealing_key(body["key"]) and sealing_type_good(state, body["key"]), "key")
        holds(hashes.key_id(body["key"]) not in state.sealing, "key", "it stood below")
        if subject == 3:
            holds(len(state.auditors) < 32, "key", "33 auditors")
        else:
            wrapped = [wrap["auditor_key_id"] for wrap in body["wraps"]]
            holds(wrapped == sorted(map(hashes.key_id, state.auditors)), "key", "wraps")
    elif subject == 4:
        policy_rule(state.genesis, body["policy"], state.signing_known)
    elif subject == 5:
        retirement(state, body)
    elif subject == 6 and body["change"] != 2:
        holds(signing_point(body["key"]) and body["key"] not in state.signing_known, "key")
    elif subject == 8 and "co_dealer" in body:
        holds(signing_point(body["key"]), "key", "the co-dealer's key")


def witness_has(text, signing_key):
    """Whether a witness of this policy has this signing key."""
    try:
        policy = Policy(text)
    except (Malformed, Unknown):
        return False
    return any(key.typed == signing_key for _, key in policy.lines)


def retirement(state, body):
    """Check a retirement. The key is known, of its subject and not retired. It is neither a
    signing key in force nor the last auditor key."""
    subject, key_id = body["retired_subject"], body["retired_key_id"]
    if subject == 1:
        known = {hashes.key_id(key): key for key in state.signing_known}
        holds(key_id in known and key_id not in state.signing_retired, "key", "retirement")
        holds(known[key_id] not in state.signing_in_force.values(), "key", "in force")
        return
    known = state.sealing.get(key_id)
    holds(known is not None and known["subject"] == subject and not known["retired"], "key",
          "retirement")
    holds(subject != 3 or len(state.auditors) > 1, "key", "the last auditor")


def co_dealer_pin(state, entry):
    """Check the rule co_dealer of a key entry."""
    body = entry.body
    if body["subject"] == 1 and state.co_dealer_pin is not None:
        keys = pin_keys(state.co_dealer_pin, Policy(state.co_dealer_pin["policy"]))
        holds(body["key"] not in keys, "co_dealer", "a key of the co-dealer")
    if body["subject"] != 8 or "co_dealer" not in body:
        return
    holds(body["co_dealer"] != state.genesis["origin"], "co_dealer", "this ledger")
    policy = policy_good(body["policy"], "co_dealer")
    keys = pin_keys(body, policy)
    holds(not any(known in keys for known in state.signing_known), "co_dealer",
          "this ledger's key")
    holds(not any(key.name == state.genesis["origin"] for _, key in policy.lines), "co_dealer",
          "a witness with the ledger's name")
    holds(not state.genesis["production"] or policy.overlap() > 0, "co_dealer", "d = 0")


def pin_keys(body, policy):
    """Return the public keys of a co-dealer: its own, and those of its policy's logs and witnesses."""
    lines = [key for _, key in policy.lines]
    return {body["key"]} | {key.typed for key in policy.logs + lines}


def administrators_rule(state, entry):
    """Check the rule administrators of a genesis and of key entries of the subjects 6 and 7."""
    body = entry.body
    if entry.kind == "genesis":
        production = body["production"]
        in_force, acts = len(body["administrators"]), body["two_persons"]
    elif body["subject"] == 6:
        production, acts = state.genesis["production"], state.two_persons
        in_force = administrator_change(state, body)
    elif body["subject"] == 7:
        production, acts = state.genesis["production"], body["acts"]
        in_force = len(state.administrators)
    else:
        return
    holds(not acts or in_force >= 2, "administrators", "fewer than two")
    holds(not production or {8, 9, 10, 11, 13} <= set(acts), "administrators", "production")
    holds(in_force <= 16, "administrators", "17")


def administrator_change(state, body):
    """Check that an administrator comes, goes or gets another key. Return how many are in force then."""
    name, change = body["administrator"], body["change"]
    if change == 1:
        holds(name not in state.administrator_names, "administrators", "the name stood below")
    else:
        holds(name in state.administrators, "administrators", "not in force")
    if change != 2:
        holds(body["key"] not in state.administrator_keys, "administrators", "the key stood")
    return len(state.administrators) + {1: 1, 2: -1, 3: 0}[change]
