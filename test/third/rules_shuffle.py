"""The rules of mixes, deals, reveals, closes, disclosures and takeovers: SPEC 9."""

import draws
import hashes
from rules_commit import COMMIT_RULES, holds
from shuffle_state import (BURN, CONTINUED, DISCARD, EXPIRED, ORDER_PURPOSE, REASON_CO_DEALER,
                           TO_PLAY, VOID, is_tape_lost)
from wire import RESERVED

MAX_TAKEOVERS, MAX_BLIND = 16, 64


def open_shuffle(state, entry):
    """Check the rule not_open. Return the open shuffle of an entry."""
    shuffle = state.shuffles.get(entry.body["shuffle"])
    holds(shuffle is not None and shuffle.open, "not_open")
    return shuffle


def play_rules(state, entry):
    """Check the rules not_open, deadline, owner, set_aside and earlier_serial of a mix or deal."""
    shuffle = open_shuffle(state, entry)
    holds(entry.time < shuffle.body["close_by"], "deadline")
    holds(entry.identity == shuffle.owner and shuffle.may_play, "owner")
    table = state.table(shuffle.context["table"])
    holds(not shuffle.set_aside(table), "set_aside")
    if not shuffle.is_order and shuffle.next == 0:
        holds(not any(index < shuffle.id and not other.set_aside(table)
                      for index, other in table.waiting.items()), "earlier_serial")


def mix_rules(state, entry):
    """Check the rules mix and checkpoint of a mix."""
    shuffle = state.shuffles[entry.body["shuffle"]]
    plan, values = shuffle.plan, entry.body["values"]
    holds(plan and not shuffle.mixed and shuffle.next == 0, "mix")
    holds([v["source"] for v in values] == [s["source"] for s in plan], "mix", "sources")
    context = shuffle.context
    for source, value in zip(plan, values):
        if source["source"] == 1:
            hashed = hashes.slot_hash(context["origin"], context["table"], value["value"])
            holds(hashed == source["slot_hash"], "mix", "slot")
        elif source["source"] == 3:
            holds(value["cut"] < shuffle.m, "mix", "cut")
    checkpoint(state, entry, shuffle)


def checkpoint(state, entry, shuffle):
    """Check the rule checkpoint."""
    holds(shuffle.id < entry.body["checkpoint"] <= state.size, "checkpoint")


def deal_rules(state, entry):
    """Check the rules mix, place, places, round, co_dealer and checkpoint of a deal."""
    body = entry.body
    shuffle = state.shuffles[body["shuffle"]]
    holds(not shuffle.plan or shuffle.mixed, "mix", "before the mix")
    holds(body["first_place"] == shuffle.next, "place")
    end = body["first_place"] + sum(run["cards"] for run in body["runs"])
    holds(end <= shuffle.m, "places")
    for number, run in enumerate(body["runs"]):
        if run["purpose"] == ORDER_PURPOSE:
            holds(number == len(body["runs"]) - 1 and end == shuffle.m, "places", "order")
        if shuffle.context["kind"] == 3:
            holds(run["public"], "places", "numbers")
    last = shuffle.round
    if state.partial and shuffle.next == 0 and "parent" in shuffle.context:
        last = body["runs"][0]["round"]     # the runs of the parent are in another file
    for run in body["runs"]:
        holds(run["round"] in (last, last + 1), "round")
        last = run["round"]
    deal_co_dealer(shuffle, body, end)
    checkpoint(state, entry, shuffle)


def deal_co_dealer(shuffle, body, end):
    """Check the rule co_dealer of a deal."""
    holds(("blind" in body) == (shuffle.co_dealer is not None)
          and ("asked" in body) == shuffle.is_order, "co_dealer", "extension")
    if "blind" not in body and "asked" not in body:
        return
    holds(end - body["first_place"] <= MAX_BLIND, "co_dealer", "places")
    for run in body["runs"]:
        holds(run["purpose"] != ORDER_PURPOSE, "co_dealer", "order")
        holds(run["purpose"] != 1 or run["recipient"], "co_dealer", "seat")
        holds(run["public"] or run["purpose"] in (BURN, DISCARD) or run["recipient"],
              "co_dealer", "nobody's")
    if "asked" in body:
        asked = body["asked"]
        holds(asked["head"]["index"] > asked["commit"]["index"], "co_dealer", "checkpoint")
        holds(not body["final"], "co_dealer", "final")
        return
    given_in_order(shuffle, body["blind"])
    places = opened_places(body)
    values = body["blind"]["values"]
    holds(len(values) == len(places), "co_dealer", "values")
    context = shuffle.context
    if context["kind"] == 1:
        holds(all(value < shuffle.m for value in values), "co_dealer", "position")
        holds(len(set(values)) == len(values) and not set(values) & set(shuffle.co_values),
              "co_dealer", "position twice")
    else:
        ranges = draws.value_ranges(context)
        holds(all(1 <= value <= ranges[place] for value, place in zip(values, places)),
              "co_dealer", "range")


def given_in_order(shuffle, blind):
    """Check that the co-dealer's deal stands behind the commit that the plan names, and under
    the checkpoint."""
    commit = shuffle.co_dealer["commit"]["index"]
    holds(commit < blind["deal"]["index"] < blind["head"]["index"], "co_dealer", "index")


def opened_places(body):
    """Return the places of a deal that are not aside, in ascending order."""
    places, place = [], body["first_place"]
    for run in body["runs"]:
        if run["public"] or run["purpose"] not in (BURN, DISCARD):
            places += range(place, place + run["cards"])
        place += run["cards"]
    return places


def reveal_rules(state, entry):
    """Check the rules not_open, deadline, owner and reveal of a reveal."""
    body = entry.body
    shuffle = state.shuffles.get(body["shuffle"])
    holds(shuffle is not None and (shuffle.open or shuffle.continued)
          and (state.partial or shuffle.last.open), "not_open")
    last = shuffle.last
    if not (state.partial and shuffle.continued):
        holds(entry.time < last.body["close_by"], "deadline")
        holds(entry.identity == last.owner and last.may_play, "owner")
    for place in body["places"]:
        holds(place in shuffle.purposes and place not in shuffle.public, "reveal")
        if shuffle.purposes[place] in (BURN, DISCARD):
            holds((body["final"] or body["exposed"]) and shuffle.co_dealer is None, "reveal")
    holds(not (body["final"] and shuffle.continued) and not shuffle.is_order, "reveal")


def close_rules(state, entry):
    """Check the rules of a close."""
    body = entry.body
    shuffle = open_shuffle(state, entry)
    outcome = body["outcome"]
    anybody = is_tape_lost(body) or (outcome == EXPIRED and entry.identity in RESERVED)
    holds(anybody or entry.identity == shuffle.owner, "owner")
    if not is_tape_lost(body):
        holds((outcome == EXPIRED) == (entry.time >= shuffle.body["close_by"]), "deadline")
    if outcome == CONTINUED:
        demanded = state.pair is not None and state.pair[0] == "continue"
        holds(demanded or (state.partial and shuffle.continues), "outcome")
    close_co_dealer(shuffle, body)
    if outcome != CONTINUED and not is_tape_lost(body):
        tape_rules(state, shuffle, body)
    holds(body["entries"] == shuffle.counted, "entries")


def close_co_dealer(shuffle, body):
    """Check the rule co_dealer of a close."""
    named = shuffle.co_dealer is not None
    if body["reason"] == REASON_CO_DEALER:
        holds(named, "co_dealer", "reason")
    holds(named or "blind" not in body, "co_dealer", "blind")
    holds(not named or "blind" in body or is_tape_lost(body), "co_dealer", "no checkpoint")
    if "blind" in body:
        head, commit = body["blind"]["head"]["index"], shuffle.co_dealer["commit"]["index"]
        holds(head > commit, "co_dealer", "checkpoint")
    if unplayed(body):
        holds(body["outcome"] in (VOID, EXPIRED), "co_dealer", "unplayed")
        given_in_order(shuffle, body["blind"])
        values = body["blind"]["values"]
        holds(len(values) <= shuffle.m - shuffle.next, "co_dealer", "unplayed values")
        if shuffle.context["kind"] == 1:
            holds(all(value < shuffle.m for value in values), "co_dealer", "position")
            holds(len(set(values)) == len(values) and not set(values) & set(shuffle.co_values),
                  "co_dealer", "position twice")
    if "follows" in body:
        holds(shuffle.is_order, "co_dealer", "follows")
        holds(body["follows"]["places"] == shuffle.next, "co_dealer", "places")
    elif shuffle.is_order:
        void_undealt = body["outcome"] == VOID and shuffle.next == 0
        holds(body["outcome"] == EXPIRED or is_tape_lost(body) or void_undealt, "co_dealer",
              "follows nothing")


def unplayed(body):
    """Return the extension `blind` of a close if it names a deal that was not played, or None."""
    blind = body.get("blind")
    return blind if blind is not None and blind["deal"]["index"] else None


def tape_rules(state, shuffle, body):
    """Check the rules form and disclosure_key of a close or disclosure."""
    length = draws.tape_length(draws.recipe_ranges(shuffle.context))
    if shuffle.context["disclosure"] == 1:
        holds(body["form"] == 1 and len(body["tape"]) == length, "form")
        return
    allowed = {1: length + 81, 2: length + 1_169}
    types = state.sealed_types()
    holds(body["form"] == 2 and len(body["tape"]) in [allowed[t] for t in types], "form")
    holds(state.seals_to(body["disclosure_key"]), "disclosure_key")


def disclosure_rules(state, entry):
    """Check the rules of a disclosure."""
    shuffle = state.shuffles.get(entry.body["shuffle"])
    holds(shuffle is not None and shuffle.continued and not shuffle.disclosed
          and (state.partial or not shuffle.last.open), "not_open")
    if entry.body["form"] != 0:
        tape_rules(state, shuffle, entry.body)
    holds(entry.body["entries"] == shuffle.counted, "entries")


def takeover_rules(state, entry):
    """Check the rules of a takeover."""
    shuffle = open_shuffle(state, entry)
    holds(entry.identity not in RESERVED, "owner", "reserved")
    if entry.identity == shuffle.owner:
        holds(not shuffle.may_play and entry.body["extent"] == TO_PLAY, "owner")
    holds(shuffle.takeovers < MAX_TAKEOVERS, "owner", "17 takeovers")


SHUFFLE_RULES = {
    "commit": COMMIT_RULES,
    "mix": [play_rules, mix_rules],
    "deal": [play_rules, deal_rules],
    "reveal": [reveal_rules],
    "close": [close_rules],
    "disclosure": [disclosure_rules],
    "takeover": [takeover_rules],
}
