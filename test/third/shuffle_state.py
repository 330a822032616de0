"""A shuffle and a table in the state on which legality depends: SPEC 9, 9.1."""

import draws

BURN, DISCARD, ORDER_PURPOSE = 3, 4, 6
COMPLETED, ENDED_EARLY, CONTINUED, VOID, EXPIRED = 1, 2, 3, 4, 5
TAPE_LOST, REASON_CO_DEALER = 10, 11
TO_CLOSE, TO_PLAY = 1, 2
LATCH_CLEAR, KILL_CLEAR, CANCEL = 6, 7, 12


def is_tape_lost(body):
    """Whether a body is that of a close as void for tape_lost."""
    return body.get("outcome") == VOID and body.get("reason") == TAPE_LOST


class Shuffle:
    """A shuffle, open or closed."""

    def __init__(self, index, entry):
        body = entry.body
        self.id = index
        self.time = entry.time
        self.body = body
        self.context = body["context"]
        self.m = draws.size(self.context)
        self.owner = entry.identity
        self.may_play = True
        self.takeovers = 0
        self.open = True
        self.continued = False
        self.disclosed = False
        self.mixed = False
        self.next = 0
        self.round = 0          # of the newest run of the chain
        self.deals = 0
        self.entries = 1        # that name it and took effect
        self.public = set()
        self.purposes = {}      # by place
        self.runs = {}          # by place
        self.co_values = []     # positions or draws that the co-dealer gave
        self.root = self
        self.parent = None
        self.child = None
        self.depth = 1

    @property
    def counted(self):
        """What a close or disclosure counts: the entries, at most as a u16 can."""
        return min(self.entries, 0xffff)

    @property
    def plan(self):
        """The sources that have a value: all except a co-dealer."""
        return [source for source in self.context["plan"] if source["source"] != 4]

    @property
    def co_dealer(self):
        """The co-dealer of the plan, {origin, commit}, or None."""
        for source in self.context["plan"]:
            if source["source"] == 4:
                return source
        return None

    @property
    def is_order(self):
        """Whether the shuffle is an order for another ledger."""
        return "for_ledger" in self.context

    @property
    def continues(self):
        """Whether the shuffle can have a child: cards of this ledger alone."""
        return self.context["kind"] == 1 and self.co_dealer is None and not self.is_order

    def set_aside(self, table):
        """Whether a close of its table set the shuffle aside."""
        return (self.open and self.id < table.closed_at and self.next == 0
                and "parent" not in self.context and not self.is_order)

    @property
    def last(self):
        """The last shuffle of the chain that continues this one."""
        shuffle = self
        while shuffle.continued and shuffle.child is not None:
            shuffle = shuffle.child
        return shuffle

    def aside(self, place):
        """Whether a dealt place is aside (SPEC 8): of a burn or discard, and not public."""
        return self.purposes.get(place) in (BURN, DISCARD) and place not in self.public

    def apply_deal(self, body):
        """Apply a deal (SPEC 9.1). The next place moves to its end, at most to m, and never back."""
        place = body["first_place"]
        for run in body["runs"]:
            for _ in range(run["cards"]):
                if self.next <= place < self.m:
                    self.purposes[place] = run["purpose"]
                    self.runs[place] = run
                    if run["public"]:
                        self.public.add(place)
                place += 1
        self.next = max(self.next, min(place, self.m))
        self.round = body["runs"][-1]["round"]
        self.deals += 1
        self.co_values += body.get("blind", {}).get("values", [])

    def apply_reveal(self, body):
        """Make those of its places public that were dealt (SPEC 9.1)."""
        self.public |= {place for place in body["places"] if place in self.purposes}


class Table:
    """A table: whether it is open, its last serial, the index of the commit with that serial, and that
    of its newest close."""

    def __init__(self):
        self.open = False
        self.serial = 0
        self.last = 0
        self.closed_at = 0
        self.waiting = {}       # by id, the shuffles that have not begun
