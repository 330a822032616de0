"""What a verdict says of a file: SPEC 10.4, SPEC-BLIND 8."""

from datetime import datetime, timedelta, timezone

import codes
import decks
import draws
import hashes
import steps_cards
import terms as documents
from shuffle_state import VOID, is_tape_lost
from wire import to_base64

LATEST = 253_402_300_800_000


def rfc3339(milliseconds):
    """Return a time as RFC 3339 in UTC with milliseconds, or None after the year 9999."""
    if milliseconds >= LATEST:
        return None
    moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=milliseconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def commit_members(found, index, entry):
    """Add what a commit says of its shuffle."""
    body, context = entry.body, entry.body["context"]
    found.update({
        "id": index, "table": context["table"], "serial": body["serial"],
        "commitment": to_base64(body["commitment"]), "deck_root": to_base64(body["deck_root"]),
        "disclosure": codes.name("disclosure", context["disclosure"]),
        "places": draws.size(context)})
    optional = {"game_ref": body["game_reference"], "committed_at": rfc3339(entry.time),
                "close_by": rfc3339(body["close_by"])}
    found.update({name: value for name, value in optional.items() if value})
    if context["end_at"]["form"] == 1:
        found["end_at"] = context["end_at"]["place"]


def close_members(found, entry):
    """Add what a close says."""
    if rfc3339(entry.time):
        found["closed_at"] = rfc3339(entry.time)
    found["outcome"] = codes.name("outcome", entry.body["outcome"])
    if entry.body["reason"]:
        found["reason"] = codes.name("reason", entry.body["reason"])


def passed_over(found, entries):
    """Add the codes that were passed over (SPEC 1.4)."""
    passed = {}
    for index, entry in entries:
        for key in entry.passed_over:
            count, first = passed.get(key, (0, index))
            passed[key] = (count + 1, first)
    if passed:
        found["passed_over"] = [{"list": key[0], "code": key[1], "count": count, "first": first}
                                for key, (count, first) in sorted(passed.items())]


def shuffle_members(case, found):
    """Add what the file says of the shuffle."""
    shuffle = case.shuffle
    commit_members(found, case.file.id, case.commit)
    found["owner"] = case.commit.identity
    optional = {"recipient": case.file.recipient, "next": shuffle.next,
                "shown": len(shuffle.public), "last_round": shuffle.round,
                "takeovers": takeovers(case)}
    found.update({name: value for name, value in optional.items() if value})
    if case.end_at is not None:
        found["end_at"] = case.end_at
    close = next((e for _, e in case.played if e.kind == "close"), None)
    found["state"] = "open" if close is None else "closed"
    if close is not None:
        if close.body["outcome"] == 3 and case.last_body is None:
            found["state"] = "continued"
        close_members(found, close)
    if shuffle.round and (found["state"] != "closed" or close.body["outcome"] == 3):
        found["last_goes_on"] = True
    passed_over(found, case.entries)
    found["shuffled"] = shuffled(case.context, case.file.deck)


def shuffled(context, names):
    """Return what was shuffled."""
    if context["kind"] != 1:
        if context["kind"] == 3:
            return {"kind": "numbers", "of": context["of"]}
        return {"kind": "draws", "ranges": context["ranges"]}
    found = dict(decks.likeness(names), kind="cards", cards=context["n"])
    if "parent" in context:
        found["parent"] = context["parent"]["id"]
    return found


def takeovers(case):
    """Return the takeovers of a file, each with the owner and the next place before it."""
    listed, owner, place = [], case.commit.identity, 0
    for index, entry in case.played:
        if entry.kind == "deal":
            place = entry.body["first_place"] + sum(run["cards"] for run in entry.body["runs"])
        if entry.kind != "takeover":
            continue
        time = {"time": rfc3339(entry.time)} if rfc3339(entry.time) else {}
        listed.append({"index": index, **time, "identity": entry.identity, "credential": entry.credential,
                       "from": owner, "place": place,
                       "extent": codes.name("extent", entry.body["extent"]),
                       "reason": entry.body["reason"]})
        owner = entry.identity
    return listed


def terms_member(case, found, mixed):
    """Add what the terms say."""
    bound = case.context.get("terms")
    if bound is None:
        return
    found["terms"] = {"kind": codes.name("terms", bound["kind"]),
                      "hash": to_base64(bound["hash"])}
    if bound["kind"] == documents.TICKET_LIST:
        found["terms"]["count"] = bound["count"]
        if not any(item["for"] == "everybody" for item in mixed):
            found["terms"]["house_could_choose"] = True
    if case.labels is not None:
        found["terms"]["labels"] = case.labels
    if case.pay_table is not None:
        found["terms"]["text"] = case.pay_table


def cards_member(case, found):
    """Add the cards of the file, by place."""
    listed = card_items(case, case.file.cards, case.shuffle.runs)
    if listed:
        found["cards"] = listed


def card_items(case, cards, runs):
    """Return cards as a verdict writes them. Numbers that were not played are computed behind
    those of `cards`."""
    listed = []
    before = case.file.cards if cards is not case.file.cards else []
    drawn = [steps_cards.shown_value(case, card["place"], card["value"])
             for card in before + cards] if case.context["kind"] != 1 else []
    shown = draws.numbers(case.context["of"], drawn) if case.context["kind"] == 3 else drawn
    shown = shown[len(before):]
    for number, card in enumerate(cards):
        run = runs[card["place"]]
        item = {"place": card["place"], "position": card["position"], "value": card["value"],
                "purpose": codes.name("purpose", run["purpose"])}
        if shown:
            item["shows"] = shown[number]
        if card["card"] is not None:
            item["card"] = card["card"]
        if case.labels is not None:
            item["label"] = documents.label_of(case.labels, shown[number])
        if run["recipient"]:
            item["recipient"] = run["recipient"]
        item["public"] = run["public"]
        if run["round"]:
            item["round"] = run["round"]
        if card["place"] in case.shuffle.public and not run["public"]:
            item["revealed"] = True
        listed.append(item)
    return listed


def blind_members(case, found):
    """Add `blind` or `not_blind` (SPEC-BLIND 8)."""
    dealt = any(e.kind == "deal" for _, e in case.co_entries)
    tied = len(case.file.heads) == len(case.file.co_receipts) - 1
    if found["verdict"] == "proved" and dealt and tied and case.results["asked"] == "ok" \
            and case.results["co_dealer"] == "ok":
        requests = [request_of(case, deal, unplayed) for deal, unplayed in case.requests]
        found["blind"] = {"co_dealer": case.file.co_receipts[0].checkpoint.origin,
                          "requests": requests}
        if case.co_entries[-1][1].kind == "close":
            found["blind"]["closed"] = True
        found["blind"]["order_checked"] = case.results["order"] == "ok"
    elif case.trust.co_dealer is not None:
        if case.named is None:
            found["not_blind"] = "no_co_dealer"
        elif found["verdict"] != "proved" or not case.trust.co_dealer.logs:
            found["not_blind"] = "key_not_pinned"
        elif case.trust.co_dealer.overlap() == 0:
            found["not_blind"] = "no_common_witness"
        else:
            found["not_blind"] = "not_one_history" if dealt else "not_dealt"


def dealt_on_members(case, found):
    """Add whether what the co-dealer opened of a closed shuffle was dealt on (SPEC-BLIND 8)."""
    if case.named is None or not any(e.kind == "close" for _, e in case.played):
        return
    tied = len(case.file.heads) == len(case.file.co_receipts) - 1
    end = case.co_entries[-1][1].body if case.co_entries[-1][1].kind == "close" else {}
    more = end.get("follows", {"places": 0})["places"] - case.asked_places
    holds = tied and case.results["co_dealer"] == "ok"
    if holds and more > 0:
        found["dealt_on"], found["not_dealt_on"] = "opened_only", more
    elif not (holds and end
              and ("follows" in end or end["outcome"] == VOID and not is_tape_lost(end))):
        found["dealt_on"] = "not_shown"


def request_of(case, deal, unplayed):
    """Return a request as the verdict writes it."""
    runs = []
    for run in deal.body["runs"]:
        item = {"places": run["cards"], "purpose": codes.name("purpose", run["purpose"])}
        if run["recipient"]:
            item["recipient"] = run["recipient"]
        if run["public"]:
            item["public"] = True
        if run["round"]:
            item["round"] = run["round"]
        runs.append(item)
    request = {"place": deal.body["first_place"],
               "places": sum(run["cards"] for run in deal.body["runs"]), "runs": runs}
    if rfc3339(deal.time):
        request["time"] = rfc3339(deal.time)
    if deal.body["asked"]["state"] != bytes(32):
        request["state"] = to_base64(deal.body["asked"]["state"])
    if unplayed:
        request["unplayed"] = True
        if case.file.unplayed:
            runs_by_place = places_of(deal.body)
            request["cards"] = card_items(case, case.file.unplayed, runs_by_place)
    history_members(case, deal.body["asked"]["state"], request)
    return request


def places_of(deal):
    """Return the run of each place of a deal."""
    runs, place = {}, deal["first_place"]
    for run in deal["runs"]:
        for _ in range(run["cards"]):
            runs[place] = run
            place += 1
    return runs


def history_members(case, state, request):
    """Add whether the state is that of the first lines of the given history (SPEC-BLIND 3)."""
    if case.trust.history is None or state == bytes(32):
        return
    text = b""
    for number in range(len(case.trust.history) + 1):
        if hashes.sha256(hashes.label("state"), text) == state:
            request["history"], request["line"] = "checked", number
            return
        text += "".join(case.trust.history[number:number + 1]).encode()
    request["history"] = "differs"
