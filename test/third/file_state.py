"""The legality of one shuffle: the state after the entries of a file (SPEC 10.3)."""

import rules
import rules_commit
import rules_shuffle
from rules_commit import holds
from shuffle_state import CONTINUED
from state import State


class FileState(State):
    """The state of a file. What a file cannot show is taken to be in order."""

    partial = True

    def disclosure_key_good(self):
        """Return True: the auditor keys are taken not to have changed."""
        return True

    def seals_to(self, index):
        """Whether the disclosure key can stand at this index: above 0, and below the entry."""
        return 0 < index < self.size

    def pin_names(self, _origin):
        """Return True: the ledger's newest co-dealer is taken to be the one of the plan."""
        return True

    def apply_close(self, index, entry, pair):
        """Apply a close. One as continued is taken to stand behind the commit of the child."""
        super().apply_close(index, entry, pair)
        if entry.body["outcome"] == CONTINUED:
            self.shuffles[entry.body["shuffle"]].continued = True

    def apply_reveal(self, index, entry, pair):
        """Apply a reveal, also of a shuffle that is continued."""
        shuffle = self.shuffles[entry.body["shuffle"]]
        shuffle.apply_reveal(entry.body)
        shuffle.entries += 1
        if entry.body["final"] and shuffle.open:
            self.pair = ("final", shuffle, False)

    def apply_disclosure(self, _index, entry, _pair):
        """Apply a disclosure. Its shuffle is continued, by the rule not_open."""
        self.shuffles[entry.body["shuffle"]].disclosed = True


def believe(state, commit, index):
    """Take as there what the commit names: instance, previous commit and parent (SPEC 10.3)."""
    body = commit.body
    context = body["context"]
    holds(0 < body["instance"] < index, "instance")
    state.instances.add(body["instance"])
    if body["serial"] > 1:
        holds(0 < body["previous"] < index, "serial")
        table = state.table(context["table"])
        table.open, table.serial, table.last = True, body["serial"] - 1, body["previous"]
    if "parent" in context:
        holds(0 < context["parent"]["id"] < index, "parent")


def fold_file(receipts):
    """Judge the entries of a file, each (index, entry), and return the state. May raise Broken."""
    state = FileState()
    (_, genesis), (commit_index, commit) = receipts[0], receipts[1]
    for rule in rules.OTHER_RULES["genesis"]:
        rule(state, genesis)
    state.apply(genesis)
    last_index = 0
    for index, entry in receipts[1:]:
        state.size = index
        holds(entry.time >= state.time, "time")
        check_gap(state, entry, index, last_index)
        rules.pair(state, entry)
        if index == commit_index:
            believe(state, commit, index)
        for rule in rules_shuffle.SHUFFLE_RULES[entry.kind]:
            if rule is not rules_commit.commit_parent:
                rule(state, entry)
        state.apply(entry)
        last_index = index
    holds(state.pair is None, "pair", "its close is not there")
    return state


def check_gap(state, entry, index, last_index):
    """Check the part of the rule pair that the indexes show."""
    if state.pair is not None:
        holds(index == last_index + 1, "pair", "not the next entry")
    shuffle = next(iter(state.shuffles.values()), None)
    if shuffle is None:
        return
    if "parent" in shuffle.context and last_index == shuffle.id:
        holds(index > last_index + 1, "pair", "the parent's close comes first")
    if entry.kind == "disclosure" or entry.body.get("outcome") == CONTINUED:
        holds(index > last_index + 1, "pair", "another entry stands in front")
