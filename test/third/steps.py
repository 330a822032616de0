"""The steps of SPEC 10.1 for a transcript, up to `beacon`."""

import hashlib

import hashes
import rules_commit
from entries import Entry
from errors import Broken, Malformed, StepFailed, Unknown
from file_state import fold_file
from merkle import begins, leaf_hash
from shuffle_state import CONTINUED
from trust import KeyChain

NOT_CHECKED, OK = "not checked", "ok"


def need(good, step, detail):
    """Fail the step if `good` is false."""
    if not good:
        raise StepFailed(step, detail)


def parse(receipt):
    """Parse the entry of a receipt, in the step `entries`."""
    try:
        return Entry(receipt.entry)
    except Malformed as error:
        raise StepFailed("entries", f"malformed: {error}") from error


def entries(case):
    """Step entries: each entry parses, and stands where it may."""
    file = case.file
    case.entries = []
    phase = {"mix": False, "deal": False, "close": None, "disclosure": False}
    for number, receipt in enumerate(file.receipts):
        entry = parse(receipt)
        place_in_file(case, number, receipt, entry, phase)
        case.entries.append((receipt.index, entry))
    case.genesis, case.commit = case.entries[0][1], case.entries[1][1]
    case.played = case.entries[2:]
    case.key_entries = signing_entries(file.keys)
    co_dealer_entries(case)
    return OK


def place_in_file(case, number, receipt, entry, phase):
    """Check that an entry may stand where it stands."""
    kind, body = entry.kind, entry.body
    if number == 0:
        need(kind == "genesis" and receipt.index == 0, "entries", "the genesis")
        return
    need(receipt.index > case.entries[-1][0], "entries", "indexes do not ascend")
    if number == 1:
        need(kind == "commit" and receipt.index == case.file.id, "entries", "the commit")
        return
    allowed = ("mix", "deal", "reveal", "takeover", "close")
    if phase["close"] == CONTINUED:
        allowed = () if phase["disclosure"] else ("reveal", "disclosure")
    elif phase["close"] is not None:
        allowed = ()
    need(kind in allowed and body["shuffle"] == case.file.id, "entries", f"a {kind}")
    if kind == "mix":
        need(not phase["mix"] and not phase["deal"], "entries", "a mix")
    plan = case.entries[1][1].body["context"]["plan"]
    if kind == "deal" and any(source["source"] != 4 for source in plan):
        need(phase["mix"], "entries", "a deal without the mix")
    if "entries" in body:
        need(body["entries"] == number - 1, "entries", f"the {kind} counts others")
    phase[kind] = body["outcome"] if kind == "close" else True


def signing_entries(receipts):
    """Return the entries of `keys`, each (index, key, checkpoint)."""
    listed = []
    for receipt in receipts:
        entry = parse(receipt)
        need(entry.kind == "key" and entry.body["subject"] == 1, "entries", "not a signing key")
        need(not listed or receipt.index > listed[-1][0], "entries", "keys do not ascend")
        need(receipt.index + 1 == receipt.checkpoint.size, "entries", "not the last entry")
        listed.append((receipt.index, entry.body["key"], receipt.checkpoint))
    return listed


def co_dealer_entries(case):
    """Read the entries of `co_dealer`: a commit, then deals of that shuffle and at most one close."""
    file = case.file
    plan = case.commit.body["context"]["plan"]
    case.named = next((s for s in plan if s["source"] == 4), None)
    need(file.has_co_dealer == (case.named is not None), "entries", "co_dealer")
    case.order, case.co_entries = None, []
    for number, receipt in enumerate(file.co_receipts):
        entry = parse(receipt)
        if number == 0:
            need(entry.kind == "commit", "entries", "the co-dealer's commit")
            case.order = entry
        else:
            last_index, last = case.co_entries[-1]
            need(receipt.index > last_index and last.kind != "close", "entries", "co_dealer")
            need(entry.kind == "deal" or entry.kind == "close"
                 and entry.body["outcome"] != CONTINUED, "entries", "co_dealer")
            need(entry.body["shuffle"] == case.co_entries[0][0], "entries", "co_dealer")
        case.co_entries.append((receipt.index, entry))
    case.co_keys = signing_entries(file.co_keys)


def signature(case):
    """Step signature: the keys are a chain, and keys that are trusted signed the checkpoints."""
    file = case.file
    trusted = list(case.trust.pinned)
    genesis_key = case.genesis.body["signing_key"]
    chain = KeyChain(file.checkpoint.origin, genesis_key, case.key_entries, trusted,
                     case.genesis.body["origin"])
    if not trusted:
        chain.trusted = [chain.first]
    wrong = chain.check(case.key_entries or not trusted)
    need(wrong is None, "signature", wrong)
    for checkpoint in case.checkpoints:
        need(chain.signed(checkpoint), "signature", "not signed by a trusted key")
    return OK


def inclusion(case):
    """Step inclusion: every proof holds, and the tree begins with each earlier one in the file."""
    file = case.file
    for receipt in file.receipts:
        need(receipt.included(), "inclusion", f"entry {receipt.index}")
    if file.witnessed is not None:
        need(file.id < file.witnessed.checkpoint.size, "inclusion", "witnessed without the commit")
        need(file.witnessed.ties(file.witnessed.checkpoint, file.checkpoint), "inclusion", "witnessed")
    for key in file.keys:
        good = begins(key.checkpoint, file.checkpoint, leaf_hash(key.entry), key.path)
        need(good, "inclusion", f"the key of entry {key.index}")
    return OK


def witnesses(case):
    """Step witnesses: the quorum cosigned the file's checkpoint."""
    policy = case.trust.policy
    if policy is None or policy.quorum == "none":
        return NOT_CHECKED
    if policy.complete(case.file.checkpoint) is None:
        if policy.cannot_judge(case.file.checkpoint):
            raise Unknown("a witness key of a later type decides")
        raise StepFailed("witnesses", "too few")
    return OK


def origin(case):
    """Step origin: genesis, context and checkpoint are of one ledger."""
    context, genesis = case.commit.body["context"], case.genesis.body
    need(genesis["origin"] == context["origin"] == case.file.checkpoint.origin, "origin", "name")
    need(context["genesis"] == hashlib.sha256(case.genesis.raw).digest(), "origin", "genesis")
    need(context["production"] == genesis["production"], "origin", "production")
    return OK


def slots(case):
    """Step slots: every slot that the verifier was given is in the plan."""
    if not case.trust.slots:
        return NOT_CHECKED
    context = case.commit.body["context"]
    planned = [s["slot_hash"] for s in context["plan"] if s["source"] == 1]
    given = {hashes.slot_hash(context["origin"], context["table"], r) for r in case.trust.slots}
    need(given <= set(planned), "slots", "a slot is not in the plan")
    case.held = [slot for slot in planned if slot in given]
    return OK


def legality(case):
    """Step legality (SPEC 10.3)."""
    try:
        case.state = fold_file(case.entries)
    except Broken as error:
        raise StepFailed("legality", str(error)) from error
    case.shuffle = case.state.shuffles[case.file.id]
    return OK


def beacon(case):
    """Step beacon. It is never checked, because this verifier has no BLS."""
    source = rules_commit.plan_source(case.commit.body["context"], 2)
    if source is None or source["chain_hash"] != rules_commit.QUICKNET or case.mix is None:
        return NOT_CHECKED
    return case.check_beacon(source["round"])


def entry_leaf(entry):
    """Return the leaf hash of an entry (SPEC 4.2)."""
    return leaf_hash(entry.raw)
