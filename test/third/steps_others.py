"""The steps `asked`, `co_dealer` and `statements` of SPEC 10.1."""

import draws
import ed25519
import hashes
import steps_cards
from errors import StepFailed, Unknown
from merkle import begins, leaf_hash
from rules_shuffle import opened_places, unplayed as unplayed_of
from shuffle_state import EXPIRED, VOID, is_tape_lost
from steps import NOT_CHECKED, OK, entry_leaf, need
from trust import KeyChain
from wire import u16, u64

HOUR = 3600 * 1000


def asked(case):
    """Step asked: the house dealt what it asked for, and the co-dealer dealt what it was asked for."""
    if case.named is None:
        return NOT_CHECKED
    (index, commit), rest = case.co_entries[0], case.co_entries[1:]
    need(case.named["origin"] == case.file.co_receipts[0].checkpoint.origin
         and case.named["commit"] == {"index": index, "leaf": entry_leaf(commit)}, "asked",
         "another commit")
    need(order_fits(case, commit.body), "asked", "another order")
    own = [entry for _, entry in case.played if entry.kind == "deal"]
    theirs = [(i, entry) for i, entry in rest if entry.kind == "deal"]
    close = next((entry for _, entry in case.played if entry.kind == "close"), None)
    unplayed = unplayed_of(close.body) if close is not None else None
    need(unplayed or not case.file.unplayed, "asked", "unplayed")
    need(not unplayed or case.mix or not case.shuffle.plan, "asked", "the mix is missing")
    need(len(theirs) == len(own) + (1 if unplayed else 0), "asked", "deals")
    place, before = 0, case.mix or case.commit
    case.requests = []
    for number, (i, deal) in enumerate(theirs):
        named = own[number].body["blind"] if number < len(own) else unplayed
        need(named["deal"] == {"index": i, "leaf": entry_leaf(deal)}, "asked", "another deal")
        need(deal.body["first_place"] == place, "asked", "a gap")
        place += sum(run["cards"] for run in deal.body["runs"])
        if number < len(own):
            need(named["head"] == receipt_head(case, i), "asked", "another checkpoint")
            need(own[number].body["first_place"] == deal.body["first_place"]
                 and own[number].body["runs_bytes"] == deal.body["runs_bytes"], "asked", "runs")
        else:
            check_unplayed(case, deal, unplayed, place)
        check_request(case, deal.body, before)
        case.requests.append((deal, number >= len(own)))
        before = own[number] if number < len(own) else None
    case.asked_places = place
    for _, entry in rest:
        if entry.kind == "close":
            named = entry.body.get("follows", {"places": place})["places"]
            need(named >= place, "asked", "the order's close names fewer places")
            if not ends_alone(entry.body, theirs):
                check_follows(case, entry.body)
    return OK


def receipt_head(case, index):
    """Return size and root of the checkpoint in the receipt of the co-dealer's entry."""
    checkpoint = next(r.checkpoint for r in case.file.co_receipts if r.index == index)
    return {"index": checkpoint.size, "leaf": checkpoint.root}


def ends_alone(body, deals):
    """Whether this close of an order does not need to follow the close of a shuffle."""
    return (body["outcome"] == EXPIRED or is_tape_lost(body)
            or (body["outcome"] == VOID and "follows" not in body and not deals))


def order_fits(case, body):
    """Whether the order fits this shuffle (SPEC-BLIND 1)."""
    mine, theirs = case.context, body["context"]
    if theirs.get("for_ledger") != mine["origin"]:
        return False
    if (theirs["production"], theirs["disclosure"]) != (mine["production"], mine["disclosure"]):
        return False
    if body["close_by"] < case.commit.body["close_by"] + HOUR:
        return False
    if 1 in (mine["kind"], theirs["kind"]):
        return mine["kind"] == theirs["kind"] and mine["n"] == theirs["n"]
    return draws.value_ranges(theirs) == draws.value_ranges(mine)


def check_request(case, deal, before):
    """Check the request for a deal: by this shuffle, behind E (SPEC-BLIND 2), signed by the ask key."""
    request = deal["asked"]
    leaf = entry_leaf(case.commit)
    need(request["commit"] == {"index": case.file.id, "leaf": leaf}, "asked", "another shuffle")
    need(request["after"] == entry_leaf(before), "asked", "behind another entry")
    message = (hashes.label("ask") + u64(case.file.id) + leaf + request["after"]
               + request["state"] + u16(deal["first_place"]) + deal["runs_bytes"])
    need(ed25519.verify(case.commit.body["ask_key"], message, request["ask"]), "asked",
         "not signed by the ask key")


def check_unplayed(case, deal, unplayed, end):
    """Check the deal that was not played. The close has a value for each of its places that is
    not aside, or no value."""
    places, values = opened_places(deal.body), unplayed["values"]
    need(end <= case.shuffle.m and len(values) in (0, len(places)), "asked", "values")
    if case.context["kind"] != 1:
        ranges = draws.value_ranges(case.context)
        need(all(1 <= v <= ranges[p] for v, p in zip(values, places)), "asked",
             "a value out of its range")
    opened = case.file.unplayed
    need([card["place"] for card in opened] == (places if values else []), "asked", "unplayed")
    if case.context["kind"] == 3 and opened:
        need(places[0] == len(case.file.cards), "asked", "a place of numbers is left out")
    case.by_place.update(zip(places, values))
    shown = {card["value"] for card in case.file.cards}
    for card in opened:
        need(card["by"] is not None, "asked", "by")
        steps_cards.open_card(case, card, "asked")
        need(case.context["kind"] != 1 or card["value"] not in shown, "asked", "a card twice")
        shown.add(card["value"])


def check_follows(case, body):
    """Check that the order's close follows this shuffle's."""
    closed = next(((i, e) for i, e in case.played if e.kind == "close"), None)
    follows = body.get("follows")
    need(closed is not None and follows is not None and follows["index"] == closed[0]
         and follows["leaf"] == entry_leaf(closed[1]), "asked", "follows another")


def co_dealer(case):
    """Step co_dealer: the co-dealer's evidence holds under its own policy."""
    policy = case.trust.co_dealer
    if case.named is None or policy is None or policy.overlap() == 0 or not policy.logs:
        return NOT_CHECKED
    file = case.file
    origin = file.co_receipts[0].checkpoint.origin
    need(origin != file.checkpoint.origin, "co_dealer", "one origin")
    apart(case, policy, origin)
    closes = [e.body["blind"] for _, e in case.played if e.kind == "close" and "blind" in e.body]
    one_history([b["head"] for b in closes], [r.checkpoint for r in file.co_receipts])
    asked_at = [e.body["asked"]["head"] for _, e in case.co_entries if e.kind == "deal"]
    one_history(asked_at, case.checkpoints + [r.checkpoint for r in file.keys])
    chain = KeyChain(origin, None, case.co_keys, policy.logs)
    need(chain.check() is None, "co_dealer", "keys")
    grew(file.co_receipts, file.heads, file.co_keys)
    for receipt in file.co_receipts:
        need(chain.signed(receipt.checkpoint), "co_dealer", "signature")
        if policy.complete(receipt.checkpoint) is None:
            if policy.cannot_judge(receipt.checkpoint):
                raise Unknown("a witness key of a later type decides")
            raise StepFailed("co_dealer", "too few witnesses")
    return OK


def grew(receipts, heads, keys):
    """Check that each receipt leads to its root, that each checkpoint's tree begins with that of the one before, and
    that each key is under the first checkpoint that covers its entry."""
    need(all(receipt.included() for receipt in receipts), "co_dealer", "inclusion")
    checkpoints = [receipt.checkpoint for receipt in receipts]
    for head, first, larger in zip(heads, checkpoints, checkpoints[1:]):
        need(head.ties(first, larger), "co_dealer", "another history")
    for key in keys:
        under = next((c for c in checkpoints if c.size > key.index), None)
        need(under and begins(key.checkpoint, under, leaf_hash(key.entry), key.path), "co_dealer",
             f"the key of entry {key.index}")


def one_history(named, checkpoints):
    """Check that each size of a ledger has one root, in checkpoints and in what entries name."""
    roots = {}
    heads = [(head["index"], head["leaf"]) for head in named]
    for size, root in heads + [(c.size, c.root) for c in checkpoints]:
        need(roots.setdefault(size, root) == root, "co_dealer", "two roots")


def apart(case, policy, origin):
    """Check that neither ledger has a signing key of the other, nor a witness with the other's
    key or origin."""
    house = {key.typed for key in case.trust.pinned}
    house |= {case.genesis.body["signing_key"]} | {key for _, key, _ in case.key_entries}
    theirs = {key.typed for key in policy.logs} | {key for _, key, _ in case.co_keys}
    house_lines = case.trust.policy.lines if case.trust.policy else []
    need(not house & theirs, "co_dealer", "one key")
    for _, key in house_lines:
        need(key.typed not in theirs and key.name != origin, "co_dealer", "the house's witness")
    for _, key in policy.lines:
        need(key.typed not in house and key.name != case.file.checkpoint.origin, "co_dealer",
             "the co-dealer's witness")


def statements(case):
    """Step statements: every statement is about this shuffle, and no line of a trusted auditor's
    key is wrong."""
    listed = case.file.statements
    if not listed:
        return NOT_CHECKED
    last_leaf = entry_leaf(case.entries[-1][1])
    need(case.tape_disclosed, "statements", "no tape is disclosed")
    case.stated = []
    for statement in listed:
        need(statement.origin == case.file.checkpoint.origin and statement.id == case.file.id
             and statement.commit_leaf == entry_leaf(case.commit)
             and statement.last_leaf == last_leaf, "statements", "about another shuffle")
        for name, key_id, signature in statement.note.lines:
            keys = [k for k in case.trust.auditors if k.name == name and k.id == key_id]
            good = [ed25519.verify(k.public, statement.note.text.encode(), signature)
                    for k in keys]
            need(any(good) or not keys, "statements", "not the auditor's signature")
            case.stated.append({"name": name, "trusted": any(good)})
    return OK if any(line["trusted"] for line in case.stated) else NOT_CHECKED
