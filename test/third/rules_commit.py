"""The rules of commits: SPEC 9."""

import decks
import ed25519
from errors import Broken
from wire import RESERVED

QUICKNET = bytes.fromhex("52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971")
QUICKNET_GENESIS, QUICKNET_PERIOD = 1_692_803_367, 3
MAX_CHAIN = 8


def holds(good, rule, detail=""):
    """Raise Broken with this rule, unless it holds."""
    if not good:
        raise Broken(rule, detail)


def round_time(number):
    """Return the time of a round of quicknet, in seconds."""
    return QUICKNET_GENESIS + QUICKNET_PERIOD * (number - 1)


def plan_source(context, code):
    """Return the first source of this kind in the plan, or None."""
    return next((item for item in context["plan"] if item["source"] == code), None)


def commit_origin(state, entry):
    """Check the rule origin."""
    context = entry.body["context"]
    holds(context["origin"] == state.genesis["origin"]
          and context["genesis"] == state.genesis_hash
          and context["production"] == state.genesis["production"], "origin")


def commit_instance(state, entry):
    """Check the rule instance."""
    holds(entry.body["instance"] in state.instances, "instance")


def commit_switches(state, entry):
    """Check the rules latch and kill."""
    context = entry.body["context"]
    holds(not state.latch, "latch")
    stopped = {(1, None), (2, context["table"])}
    if context["kind"] == 1:
        stopped.add((3, context["deck_hash"]))
    holds(not stopped & state.kills, "kill")


def commit_table(state, entry):
    """Check the rules table and serial."""
    body = entry.body
    table = state.tables.get(body["context"]["table"])
    holds(table is None or table.open, "table")
    serial, last = (table.serial, table.last) if table else (0, 0)
    holds(body["serial"] == serial + 1 and body["previous"] == last, "serial")


def commit_close_by(state, entry):
    """Check the rule close_by."""
    cap = state.genesis["cap_on_close_by"] * 1000
    parent = state.shuffles.get(entry.body["context"].get("parent", {}).get("id"))
    root_time = parent.root.time if parent else entry.time
    holds(entry.time < entry.body["close_by"] <= root_time + cap, "close_by")


def commit_modes(state, entry):
    """Check the rules mix_modes and beacon."""
    context = entry.body["context"]
    for source in context["plan"]:
        holds(state.genesis["mix_modes"] & 1 << source["source"] - 1, "mix_modes")
    beacon = plan_source(context, 2)
    if beacon and beacon["chain_hash"] == QUICKNET:
        holds(round_time(beacon["round"]) * 1000 > entry.time, "beacon")


def commit_disclosure_key(state, entry):
    """Check the rule disclosure_key of a commit."""
    if entry.body["context"]["disclosure"] == 2:
        holds(state.disclosure_key_good(), "disclosure_key")


def commit_parent(state, entry):
    """Check the rule parent."""
    context = entry.body["context"]
    if "parent" not in context:
        return
    parent = state.shuffles.get(context["parent"]["id"])
    holds(parent is not None and parent.open, "parent", "not open")
    holds(entry.time < parent.body["close_by"] and parent.depth < MAX_CHAIN, "parent")
    holds(parent.continues, "parent", "can have no child")
    holds(parent.context["table"] == context["table"]
          and parent.context["deck_hash"] == context["deck_hash"], "parent", "another game")
    holds(all(p < parent.m for p in context["parent"]["positions"]), "parent", "positions")
    holds(not parent.set_aside(state.table(context["table"])), "parent", "set aside")


def commit_terms(state, entry):
    """Check the rule terms. In a file the terms of a child are taken to be its parent's."""
    context = entry.body["context"]
    terms = context.get("terms")
    if "parent" in context:
        parent = state.shuffles.get(context["parent"]["id"])
        holds(parent is None or parent.context.get("terms") == terms, "terms")
    if terms is not None:
        if terms["kind"] == 1:
            holds(context["kind"] == 2 and len(set(context["ranges"])) == 1, "terms")
        elif terms["kind"] == 3:
            holds(context["kind"] == 3 and context["of"] == terms["count"], "terms")


def commit_co_dealer(state, entry):
    """Check the rule co_dealer of a commit."""
    body, context = entry.body, entry.body["context"]
    co_dealer = plan_source(context, 4)
    named = co_dealer is not None
    holds(("ask_key" in body) == named, "co_dealer", "ask key")
    if named:
        holds(ed25519.is_key(body["ask_key"]), "co_dealer", "ask key")
        holds(state.pin_names(co_dealer["origin"]), "co_dealer", "not the one named")
        holds("parent" not in context, "co_dealer", "parent")
        holds(context["kind"] != 1 or context["m"] == context["n"], "co_dealer", "m < n")
    if "for_ledger" in context:
        order_good(state, body, context)
    elif state.pin_every():
        holds(named, "co_dealer", "every commit has one")


def order_good(state, body, context):
    """Check the rule co_dealer of a commit that is an order for another ledger."""
    holds(context["for_ledger"] != state.genesis["origin"], "co_dealer", "for this ledger")
    holds("parent" not in context and not context["plan"] and "ask_key" not in body
          and context["end_at"]["form"] == 0 and "terms" not in context, "co_dealer", "order")
    holds(context["kind"] != 3, "co_dealer", "order of numbers")
    if context["kind"] == 1:
        deck = decks.deck_hash(decks.published(f"positions-{context['n']}"))
        holds(context["m"] == context["n"] and context["deck_hash"] == deck, "co_dealer", "deck")


def commit_owner(state, entry):
    """Check the rule owner of a commit."""
    holds(entry.identity not in RESERVED, "owner")
    parent = state.shuffles.get(entry.body["context"].get("parent", {}).get("id"))
    if parent is not None:
        holds(parent.owner == entry.identity and parent.may_play, "owner", "parent's")


COMMIT_RULES = [commit_origin, commit_instance, commit_switches, commit_table, commit_close_by,
                commit_modes, commit_disclosure_key, commit_parent, commit_terms,
                commit_co_dealer, commit_owner]
