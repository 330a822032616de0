"""What entries mean for the judgement of a ledger, in addition to the rules of SPEC 9: SPEC 14.1."""

import decks
import disclosure
import draws
import hashes
import terms
from errors import Malformed
from notes import Checkpoint
from shuffle_state import CONTINUED, is_tape_lost


class Followed:
    """The part of `Ledger` that follows the entries, one after the other."""

    def follow_genesis(self, index, entry, _broken, _before):
        """Check the origin and the predecessor."""
        if index:
            return
        if entry.body["origin"] != self.newest.origin:
            self.fault("origin", index)
        if entry.body["predecessor"]:
            try:
                Checkpoint(entry.body["predecessor"].decode())
            except (Malformed, UnicodeDecodeError):
                self.fault("predecessor", index)
        self.keys += self.in_force()

    def follow_key(self, index, entry, _broken, before):
        """Note the hand-over to a signing key, or open a new disclosure key."""
        body = entry.body
        if body["subject"] == 1:
            self.rotations.append((index, before))
            self.keys += self.in_force()
        if body["subject"] == 2 and self.auditor:
            for wrap in body["wraps"]:
                if wrap["auditor_key_id"] == hashes.key_id(self.auditor.public):
                    self.unwrap(index, body["key"], wrap["wrapped_key"])

    def unwrap(self, index, public, sealed):
        """Keep the private half of a disclosure key, if its wrap opens."""
        try:
            private = disclosure.open_wrap(self.auditor, self.state.genesis["origin"], public, sealed)
            self.openers[index] = disclosure.SealingKey(public[0], private)
        except disclosure.DoesNotOpen:
            self.fault("wrap", index)

    def follow_act(self, index, entry, _broken, _before):
        """Keep the head that an act names."""
        size = entry.body["head_size"]
        if 0 < size <= self.newest.size:
            self.heads.append((size, index, entry.body["head_root"]))

    def follow_event(self, index, entry, _broken, _before):
        """Keep a head that was adopted."""
        if entry.body["kind"] == 10 and 0 < entry.body["adopted_size"] <= self.newest.size:
            self.heads.append((entry.body["adopted_size"], index, entry.body["adopted_root"]))

    def follow_commit(self, index, entry, _broken, _before):
        """Check the deck and the terms, and that nothing stands in two commits."""
        body, context = entry.body, entry.body["context"]
        once = [("commitment_twice", body["commitment"]), ("key_tag_twice", body["key_tag"])]
        once += [("slot_twice", item["slot_hash"]) for item in context["plan"] if item["source"] == 1]
        for code, value in once:
            if (code, value) in self.twice:
                self.fault(code, index, index)
            self.twice[code, value] = index
        if context["kind"] == 1:
            self.deck(index, context)
        if context.get("terms", {}).get("kind") in (terms.WHEEL, terms.PAY_TABLE):
            self.terms(index, context)

    def deck(self, index, context):
        """Check the deck of a commit of cards."""
        path = f"decks/{context['deck_hash'].hex()}.txt"
        names = self.bundle.files.get(path, b"").decode().split("\n")[:-1]
        good = decks.deck_hash(names) == context["deck_hash"] \
            and ("parent" in context or len(names) == context["n"])
        if not good and path not in self.named:
            self.named.add(path)
            self.fault("deck", index, index, path)

    def terms(self, index, context):
        """Check the document of a wheel or a pay table."""
        bound = context["terms"]
        path = f"terms/{bound['hash'].hex()}"
        document = self.bundle.files.get(path, b"")
        try:
            if terms.document_hash(bound["kind"], document) != bound["hash"]:
                raise Malformed("document")
            if bound["kind"] == terms.WHEEL:
                _, total = terms.read_wheel(document)
                if any(k != total for k in context.get("ranges", ())):
                    self.fault("terms", index, index)
            else:
                terms.read_pay_table(document)
        except Malformed:
            self.fault("terms", index, index, path)

    def follow_mix(self, index, entry, broken, _before):
        """Note the first mix or deal of a shuffle, and a cosigned checkpoint that is missing."""
        shuffle, size = entry.body["shuffle"], entry.body["checkpoint"]
        self.played.setdefault(shuffle, (index, entry.time))
        known = self.state.shuffles.get(shuffle)
        if self.state.genesis["deals"] == 2 and known and known.id < size <= index \
                and broken != "checkpoint" and size not in self.cosigned:
            self.needs.append((index, shuffle, size))

    follow_deal = follow_mix

    def follow_close(self, index, entry, broken, _before):
        """Note a close that discloses the tape, or says that it is lost."""
        body = entry.body
        if broken in (None, "form", "pair", "deadline") and body["outcome"] != CONTINUED:
            self.closes[body["shuffle"]] = (index, body, broken)

    def follow_disclosure(self, index, entry, broken, _before):
        """Note the disclosure of an ancestor."""
        self.closes[entry.body["shuffle"]] = (index, entry.body, broken)

    def tape(self, id, index, body, broken):
        """Recompute a shuffle from the tape that an entry discloses."""
        shuffle = self.state.shuffles.get(id)
        if shuffle is None or broken == "form":
            return
        if body["form"] == 0:
            if "outcome" not in body or is_tape_lost(body):
                self.fault("tape_lost", index, id)
            return
        context, commit, tape = shuffle.context, shuffle.body, body["tape"]
        if body["form"] == 2:
            opener = self.openers.get(body["disclosure_key"])
            if opener is None:
                return
            try:
                tape = disclosure.open_tape(opener, context["origin"], id, commit["commitment"], tape)
            except disclosure.DoesNotOpen:
                self.fault("sealed", index, id)
                return
        good = len(tape) == draws.tape_length(draws.recipe_ranges(context))
        if not good or hashes.commitment(commit["context_bytes"], tape) != commit["commitment"]:
            self.fault("tape", index, id)
            return
        try:
            values, _ = draws.values_of_tape(context, tape)
        except draws.TapeOut:
            self.fault("order", index, id)
            return
        if "parent" in context:
            above = self.values.get(context["parent"]["id"])
            if above is None:
                return
            values = [above[context["parent"]["positions"][x]] for x in values]
        root = hashes.deck_root(hashes.leaf_tag(commit["commitment"], commit["context_bytes"]), values,
                                hashes.salts(commit["commitment"], tape, len(values)))
        if root != commit["deck_root"]:
            self.fault("deck_root", index, id)
            return
        self.values[id] = values
