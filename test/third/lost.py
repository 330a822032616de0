"""Lost entries: SPEC 14.4."""

from merkle import root_of

MOST_TRIED = 8
NAMED = {"instance": "instance", "serial": "previous"}
ANY_OF_COMMIT = ("latch", "kill", "table", "disclosure_key", "co_dealer")


def choices(differ):
    """Give the places at which the tile's hashes are tried: all choices of SPEC 14.4, in their order."""
    yield []
    yield differ
    if len(differ) <= MOST_TRIED:
        for number in range(1, 2 ** len(differ) - 1):
            yield [place for k, place in enumerate(differ) if number >> k & 1]


def lost_of_run(hashes, tile, above):
    """Judge a run. `hashes` are those of the entries, None for an entry without bytes. Return
    the lost places and the faults."""
    lost = [i for i, item in enumerate(hashes) if item is None]
    own = [tile[i] if item is None else item for i, item in enumerate(hashes)]
    differ = [i for i, item in enumerate(own) if item != tile[i]]
    if not differ:
        return lost, []
    for chosen in choices(differ):
        if root_of([tile[i] if i in chosen else own[i] for i in range(len(own))]) == above:
            faults = [f"entry {i}" for i in chosen]
            return sorted(lost + chosen), faults + ["tile"] * (len(chosen) < len(differ))
    return lost, ["tile"]


def excused(rule, entry, index, lost, undealt, below):
    """Whether a lost entry excuses this rule, which the entry breaks."""
    body = entry.body
    kind = entry.kind

    def between(first):
        return any(first <= item < index for item in lost)

    shuffle = body.get("shuffle", 0)
    if rule in ("credential", "round"):
        return bool(lost)
    if rule == "owner":
        return between(shuffle)
    if rule == "genesis_first":
        return 0 in lost
    if rule == "pair":
        return index - 1 in lost or (kind == "disclosure" and between(shuffle))
    if rule == "earlier_serial":
        return between(undealt)
    if kind == "commit":
        parent = body["context"].get("parent")
        if rule == "parent":
            return parent is not None and between(parent["id"])
        return body[NAMED[rule]] in lost if rule in NAMED else rule in ANY_OF_COMMIT and bool(lost)
    if rule == "entries":
        return between(shuffle) and body["entries"] > below
    if kind == "disclosure":
        return (rule == "not_open" and between(shuffle)
                or rule == "disclosure_key" and between(body.get("disclosure_key", 0)))
    if kind == "close":
        return (rule == "not_open" and shuffle in lost or rule == "outcome" and index - 1 in lost
                or rule == "disclosure_key" and between(body.get("disclosure_key", 0))
                or rule == "co_dealer" and between(shuffle))
    if kind in ("mix", "deal", "reveal"):
        return (rule == "not_open" and shuffle in lost
                or rule in ("place", "mix", "reveal", "set_aside") and between(shuffle))
    return rule != "time" and bool(lost)
