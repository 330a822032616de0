"""The state on which legality depends: a fold over entries (SPEC 9, 9.1)."""

import hashlib

import hashes
from shuffle_state import CANCEL, CONTINUED, KILL_CLEAR, LATCH_CLEAR, TO_PLAY, Shuffle, Table
from wire import RESERVED


class State:
    """The state after the entries so far."""

    partial = False             # true of the state of a file (SPEC 10.3)

    def __init__(self):
        self.size = 0
        self.time = 0
        self.genesis = None
        self.genesis_hash = None
        self.genesis_entry = b""
        self.pair = None
        self.credentials = {}
        self.credential_created = False
        self.instances = set()
        self.latch = False
        self.kills = set()
        self.tables = {}
        self.shuffles = {}
        self.signing_in_force = {}
        self.sealing = {}           # by id: {subject, key, retired}
        self.signing_known = set()
        self.signing_retired = set()
        self.auditors = []          # keys in force, in order
        self.newest_disclosure = None
        self.policy_text = ""
        self.administrators = {}
        self.administrator_names = set()
        self.administrator_keys = set()
        self.two_persons = []
        self.delay = 0
        self.newest_act = 0
        self.waiting_acts = []
        self.co_dealer_pin = None

    def table(self, name):
        """Return a table. It is made if there is none."""
        return self.tables.setdefault(name, Table())

    def shuffle_table(self, entry):
        """Return the table that an entry or its shuffle names, or None."""
        if entry.kind == "commit":
            return entry.body["context"]["table"]
        if entry.kind == "event":
            return entry.body.get("table")
        if "shuffle" in entry.body and entry.body["shuffle"] in self.shuffles:
            return self.shuffles[entry.body["shuffle"]].context["table"]
        return None

    def apply(self, entry):
        """Let an entry take effect."""
        index = self.size
        self.size += 1
        self.time = entry.time
        pair, self.pair = self.pair, None
        apply = getattr(self, "apply_" + entry.kind, None)
        if apply and (self.genesis is None) == (entry.kind == "genesis"):
            apply(index, entry, pair)

    def skip(self):
        """Count an entry that is malformed, unknown or lost. It changes nothing else, and ends a pair."""
        self.size += 1
        self.pair = None

    def apply_genesis(self, _index, entry, _pair):
        """Apply a genesis (SPEC 5.1)."""
        body = entry.body
        self.genesis = body
        self.genesis_entry = entry.raw
        self.genesis_hash = hashlib.sha256(entry.raw).digest()
        self.new_signing(body["signing_key"])
        for key in body["auditors"]:
            self.new_auditor(key)
        self.policy_text = body["policy"]
        for item in body["administrators"]:
            self.new_administrator(item["name"], item["key"])
        self.two_persons = body["two_persons"]
        self.delay = body["delay"] * 1000

    def new_signing(self, key):
        """Put a signing key in force. It replaces the one of its algorithm."""
        self.signing_in_force[key[0]] = key
        self.signing_known.add(key)

    def new_auditor(self, key):
        """Put an auditor key in force. A disclosure key from before is not wrapped for it, and is stale."""
        self.auditors.append(key)
        self.sealing[hashes.key_id(key)] = {"subject": 3, "key": key, "retired": False}
        if self.newest_disclosure:
            self.newest_disclosure["stale"] = True

    def new_administrator(self, name, key):
        """Put an administrator with this key in force."""
        self.administrators[name] = key
        self.administrator_names.add(name)
        self.administrator_keys.add(key)

    def apply_commit(self, index, entry, _pair):
        """Apply a commit. It opens its shuffle, and its table goes on from its serial."""
        shuffle = Shuffle(index, entry)
        self.shuffles[index] = shuffle
        name = shuffle.context["table"]
        opens = name not in self.tables
        table = self.table(name)
        table.open = table.open or opens
        table.serial = entry.body["serial"]
        table.last = index
        table.waiting[index] = shuffle
        parent = self.shuffles.get(shuffle.context.get("parent", {}).get("id"))
        if parent is not None and parent.open:
            self.pair = ("continue", parent, shuffle)

    def apply_mix(self, _index, entry, _pair):
        """Apply a mix of an open shuffle with a plan."""
        shuffle = self.shuffles.get(entry.body["shuffle"])
        if shuffle and shuffle.open and shuffle.plan:
            shuffle.mixed = True
            shuffle.entries += 1

    def begun(self, shuffle):
        """Note that a shuffle was dealt from or closed."""
        self.table(shuffle.context["table"]).waiting.pop(shuffle.id, None)

    def apply_deal(self, _index, entry, _pair):
        """Apply a deal of an open shuffle."""
        shuffle = self.shuffles.get(entry.body["shuffle"])
        if shuffle and shuffle.open:
            shuffle.apply_deal(entry.body)
            shuffle.entries += 1
            self.begun(shuffle)
            if entry.body["final"]:
                self.pair = ("final", shuffle, True)

    def apply_reveal(self, _index, entry, _pair):
        """Apply a reveal of a shuffle that is open or continued."""
        shuffle = self.shuffles.get(entry.body["shuffle"])
        if shuffle and (shuffle.open or (shuffle.continued and not shuffle.disclosed)):
            shuffle.apply_reveal(entry.body)
            shuffle.entries += 1
            if entry.body["final"] and shuffle.open:
                self.pair = ("final", shuffle, False)

    def apply_close(self, _index, entry, pair):
        """Apply a close of an open shuffle."""
        shuffle = self.shuffles.get(entry.body["shuffle"])
        if not shuffle or not shuffle.open:
            return
        shuffle.open = False
        shuffle.entries += 1
        self.begun(shuffle)
        if entry.body["outcome"] == CONTINUED and pair and pair[0] == "continue" \
                and pair[1] is shuffle:
            child = pair[2]
            shuffle.continued, shuffle.child = True, child
            child.parent, child.root, child.depth = shuffle, shuffle.root, shuffle.depth + 1
            child.round = shuffle.round
        elif shuffle.parent is not None and entry.body["outcome"] != CONTINUED:
            self.disclose_next(shuffle, entry.identity)

    def disclose_next(self, last, identity):
        """Wait for a disclosure: that of the first shuffle of the chain that is not disclosed."""
        ancestor, due = last.parent, None
        while ancestor is not None:
            if not ancestor.disclosed:
                due = ancestor
            ancestor = ancestor.parent
        if due is not None:
            self.pair = ("disclose", due, identity, last)

    def apply_disclosure(self, _index, entry, pair):
        """Apply a disclosure that is due, also out of turn."""
        shuffle = self.shuffles.get(entry.body["shuffle"])
        if shuffle and shuffle.continued and not shuffle.last.open:
            shuffle.disclosed = True
        if pair and pair[0] == "disclose" and pair[1] is shuffle:
            self.disclose_next(pair[3], pair[2])

    def apply_takeover(self, _index, entry, _pair):
        """Apply a takeover of an open shuffle."""
        shuffle = self.shuffles.get(entry.body["shuffle"])
        if shuffle and shuffle.open:
            shuffle.owner = entry.identity
            shuffle.may_play = entry.body["extent"] == TO_PLAY
            shuffle.takeovers += 1
            shuffle.entries += 1

    def apply_credential(self, _index, entry, _pair):
        """Apply the creation or the revocation of a credential."""
        body = entry.body
        if body["kind"] == 2:
            if body["credential"] in self.credentials:
                self.credentials[body["credential"]]["revoked"] = True
        elif body["credential"] not in self.credentials and not reserved(body):
            self.credentials[body["credential"]] = dict(body, revoked=False)
            self.credential_created = True

    def apply_act(self, index, entry, _pair):
        """Apply an act. It waits, cancels, or asks for its entry."""
        body = entry.body
        self.newest_act = index
        if body["act"] == CANCEL:
            for act in self.waiting_acts:
                if act["digest"] == body["digest"] and act["expires"] > entry.time:
                    self.waiting_acts.remove(act)
                    break
        elif body["act"] in self.two_persons and len(body["signatures"]) == 1:
            self.waiting_acts.append({"act": body["act"], "digest": body["digest"],
                                      "time": entry.time, "expires": body["expires"]})
        else:
            self.pair = ("act", body["act"], body["digest"])

    def apply_event(self, index, entry, pair):
        """Apply an event (SPEC 5.8)."""
        body = entry.body
        kind = body["kind"]
        if kind == 1:
            self.instances.add(index)
        elif kind in (2, 3):
            self.table(body["table"]).open = kind == 2
            if kind == 3:
                self.table(body["table"]).closed_at = index
        elif kind == 4:
            self.kills.add(switch(body))
            self.disarm(KILL_CLEAR)
        elif kind == 5:
            self.kills.discard(switch(body))
        elif kind == 6:
            if not self.latch:
                self.disarm(LATCH_CLEAR)
            self.latch = True
        elif kind == 7:
            self.latch = False
        elif kind == 10:
            for credential in self.credentials.values():
                credential["revoked"] = True
            self.waiting_acts = []
        if not pair or pair[0] != "act":
            self.use_waiting(entry)

    def disarm(self, kind):
        """Drop the waiting acts of a kind: a set ends what would clear it."""
        self.waiting_acts = [act for act in self.waiting_acts if act["act"] != kind]

    def use_waiting(self, entry):
        """Remove the first waiting act with the digest of this entry, because it approves one entry only."""
        digest = hashes.approval_digest(entry.type, entry.identity, entry.body_bytes)
        for act in self.waiting_acts:
            if act["digest"] == digest and act["expires"] > entry.time:
                self.waiting_acts.remove(act)
                return

    def apply_key(self, index, entry, _pair):
        """Apply a key entry (SPEC 5.7)."""
        body = entry.body
        subject = body["subject"]
        if subject == 1:
            self.new_signing(body["key"])
        elif subject == 2:
            key_id = hashes.key_id(body["key"])
            self.newest_disclosure = {"index": index, "key": body["key"], "stale": False,
                                      "id": key_id}
            self.sealing[key_id] = {"subject": 2, "key": body["key"], "retired": False}
        elif subject == 3:
            if body["key"] not in self.auditors and len(self.auditors) < 32:
                self.new_auditor(body["key"])
        elif subject == 4:
            self.policy_text = body["policy"]
        elif subject == 5:
            self.retire(body)
        elif subject == 6:
            if body["change"] == 2:
                self.administrators.pop(body["administrator"], None)
            else:
                self.new_administrator(body["administrator"], body["key"])
        elif subject == 7:
            self.two_persons = body["acts"]
            self.delay = body["delay"] * 1000
        else:
            self.co_dealer_pin = body if "co_dealer" in body else None

    def retire(self, body):
        """Apply the retirement of a key."""
        if body["retired_subject"] == 1:
            self.signing_retired.add(body["retired_key_id"])
            return
        known = self.sealing.get(body["retired_key_id"])
        if known is None or known["retired"] or known["subject"] != body["retired_subject"]:
            return
        known["retired"] = True
        if known["subject"] == 3:
            self.auditors.remove(known["key"])
        if self.newest_disclosure and (known["subject"] == 3 or
                                       self.newest_disclosure["id"] == body["retired_key_id"]):
            self.newest_disclosure["stale"] = True

    def disclosure_key_good(self):
        """Whether a disclosure key stands below and is up to date (rule disclosure_key)."""
        return self.newest_disclosure is not None and not self.newest_disclosure["stale"]

    def sealed_types(self):
        """Return the types that the disclosure key may have: that of the newest one, or those
        that the rule key allows."""
        if self.newest_disclosure is not None:
            return [self.newest_disclosure["key"][0]]
        if self.auditors:
            return [self.auditors[0][0]]
        return [2] if self.genesis["production"] else [1, 2]

    def seals_to(self, index):
        """Whether the newest disclosure key stands at this index and is up to date."""
        return self.disclosure_key_good() and self.newest_disclosure["index"] == index

    def pin_names(self, origin):
        """Whether the newest key entry about a co-dealer names this origin."""
        return self.co_dealer_pin is not None and self.co_dealer_pin["co_dealer"] == origin

    def pin_every(self):
        """Whether that entry demands a co-dealer in every commit."""
        return self.co_dealer_pin is not None and self.co_dealer_pin["every"]


def reserved(body):
    """Whether a created credential has a reserved id or identity."""
    return body["credential"] in RESERVED or body["identity"] in RESERVED


def switch(body):
    """Return what a kill switch stops."""
    return body["scope"], body.get("table", body.get("deck_hash"))
