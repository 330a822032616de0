"""The steps of SPEC 10.1 for a transcript, from `deck` to `cards`."""

import decks
import draws
import hashes
import terms as documents
from errors import Malformed, StepFailed
from steps import NOT_CHECKED, OK, need


def deck(case):
    """Step deck: the deck has its hash and n cards."""
    context, names = case.context, case.file.deck
    if context["kind"] != 1:
        need(names is None and case.trust.deck is None, "deck", "a draw list and numbers have none")
        return OK
    need(names is not None and len(names) >= 2, "deck", "none")
    try:
        for name in names:
            decks.check_name(name)
    except Malformed as error:
        raise StepFailed("deck", "a card's name") from error
    need("parent" in context or len(names) == context["n"], "deck", "another number of cards")
    need(decks.deck_hash(names) == context["deck_hash"], "deck", "another deck")
    if case.trust.deck is not None:
        need("parent" not in context and names == case.trust.deck, "deck", "not what was asked for")
    return OK


def terms(case):
    """Step terms: the document of a wheel or a pay table."""
    bound, document = case.context.get("terms"), case.file.terms
    if bound is None or bound["kind"] == documents.TICKET_LIST:
        need(document is None, "terms", "a document that nothing binds")
        return NOT_CHECKED
    if document is None:
        return NOT_CHECKED
    need(documents.document_hash(bound["kind"], document) == bound["hash"], "terms", "hash")
    try:
        if bound["kind"] == documents.PAY_TABLE:
            case.pay_table = documents.read_pay_table(document)
        else:
            case.labels, total = documents.read_wheel(document)
            need(all(k == total for k in case.context["ranges"]), "terms", "total")
    except Malformed as error:
        raise StepFailed("terms", str(error)) from error
    return OK


def read_mix(case):
    """Compute P, the moves of draws, and the cut from the mix of the file."""
    context, m = case.context, draws.size(case.context)
    case.p, case.moves, case.cut = list(range(m)), None, 0
    if case.mix is None:
        return
    values = case.mix.body["values"]
    seed = hashes.mix_seed(case.commit.raw, [v["value"] for v in values if v["source"] != 3])
    case.cut = next((v["cut"] for v in values if v["source"] == 3), 0)
    if context["kind"] == 1:
        case.p = draws.mix_positions(seed, m)
    else:
        case.moves = draws.mix_draws(seed, draws.value_ranges(context))


def position_of(case, place):
    """Return the position that a place shows (SPEC 4.3, SPEC-BLIND 1)."""
    if case.context["kind"] != 1:
        return place
    if case.named is None:
        return case.p[(place + case.cut) % len(case.p)]
    if place not in case.by_place:
        return None
    return case.p[(case.by_place[place] + case.cut) % len(case.p)]


def shown_value(case, place, value):
    """Return what a draw shows after the mix and the co-dealer's value."""
    k = draws.value_ranges(case.context)[place]
    if case.moves is not None:
        value = draws.shift(value, case.moves[place], k)
    if case.named is not None and place in case.by_place:
        value = draws.shift(value, case.by_place[place], k)
    return value


def openings(case):
    """Step openings: every card opens, and the file has every card that it must open."""
    read_mix(case)
    file, shuffle, context = case.file, case.shuffle, case.context
    last, seen = -1, set()
    for card in file.cards:
        place = card["place"]
        need(place > last, "openings", "places do not ascend")
        if context["kind"] == 3:
            need(place == last + 1, "openings", "a place of numbers is left out")
        last = place
        need((card["by"] is not None) == (case.named is not None), "openings", "by")
        need(place < shuffle.next and place in shuffle.runs, "openings", "not dealt")
        if shuffle.aside(place):
            need(case.tape_disclosed and case.named is None, "openings", "aside")
        open_card(case, card, "openings")
        need(card["value"] not in seen or context["kind"] != 1, "openings", "a card twice")
        seen.add(card["value"])
        if file.recipient is not None and place not in shuffle.public:
            need(shuffle.runs[place]["recipient"] == file.recipient, "openings", "another's")
    if case.tape_disclosed:
        opened = {card["place"] for card in file.cards}
        need(shuffle.public <= opened, "openings", "a public card is left out")
    return OK


def open_card(case, card, step):
    """Check that a card shows its position and opens the deck root, and that `by` opens the order's."""
    body = case.commit.body
    tag = hashes.leaf_tag(body["commitment"], body["context_bytes"])
    if case.named is not None:
        open_by(case, card, step)
    need(card["position"] == position_of(case, card["place"]), step, "another position")
    check_value(case, card, step)
    need(hashes.opens(body["deck_root"], tag, case.shuffle.m, card["position"], card["value"],
                      card["salt"], card["proof"]), step, "the root")


def open_by(case, card, step):
    """Check that `by` opens the order's deck root, and has the value that the deal has."""
    order, by, place = case.order, card["by"], card["place"]
    tag = hashes.leaf_tag(order.body["commitment"], order.body["context_bytes"])
    need(hashes.opens(order.body["deck_root"], tag, draws.size(order.body["context"]), place,
                      by["value"], by["salt"], by["proof"]), step, "by")
    need(by["value"] == case.by_place[place], step, "another value than dealt")


def check_value(case, card, step):
    """Check that a value is an index of the deck, with that card's name, or a value of its range."""
    if case.context["kind"] == 1:
        names = case.file.deck
        need(card["value"] < len(names) and card["card"] == names[card["value"]], step,
             "value or name")
    else:
        k = draws.value_ranges(case.context)[card["position"]]
        need(card["card"] is None and 1 <= card["value"] <= k, step, "value")


def tape(case):
    """Step tape: the tape that is disclosed to everybody opens the commitment."""
    body = case.last_body
    if body is None:
        return NOT_CHECKED
    if body["form"] == 0:
        raise StepFailed("tape", "it is lost")
    if body["form"] == 2:
        return NOT_CHECKED
    need(len(body["tape"]) == draws.tape_length(draws.recipe_ranges(case.context)), "tape", "L")
    need(hashes.commitment(case.commit.body["context_bytes"], body["tape"])
         == case.commit.body["commitment"], "tape", "another tape")
    return OK


def order(case):
    """Step order: recomputed from the tape, the order leads to the deck root."""
    body = case.last_body
    if body is None or body["form"] != 1:
        return NOT_CHECKED
    try:
        values, case.end_at = draws.values_of_tape(case.context, body["tape"])
    except draws.TapeOut as error:
        raise StepFailed("order", "the tape runs out") from error
    if "parent" in case.context:
        return NOT_CHECKED
    committed, context_bytes = case.commit.body["commitment"], case.commit.body["context_bytes"]
    root = hashes.deck_root(hashes.leaf_tag(committed, context_bytes), values,
                            hashes.salts(committed, body["tape"], len(values)))
    need(root == case.commit.body["deck_root"], "order", "another root")
    case.values = values
    return OK


def cards(case):
    """Step cards: every opened card is what the order has."""
    if case.values is None:
        return NOT_CHECKED
    for card in case.file.cards:
        need(card["value"] == case.values[card["position"]], "cards", "another card")
    return OK
