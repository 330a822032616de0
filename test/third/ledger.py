"""The judgement of the ledger in a bundle: SPEC 14.1 to 14.3, without beacons and lists of tickets."""

import json
from datetime import datetime, timezone

import disclosure
import lost
import rules
from bundle import Bundle
from entries import Entry
from errors import Broken, Malformed, Unknown
from ledger_entries import Followed
from levels import gives_level
from notes import Checkpoint, vkey_of
from policy import Policy
from state import State
from trust import signed_by_each

LATE = 10_000
NOT_WHOLE = {"checkpoint", "checkpoint_size", "signature", "root", "rotation", "key_not_in_force", "since",
             "entry", "entries_missing", "malformed", "file", "tile", "origin"}


class Ledger(Followed):
    """The judgement of one ledger."""

    def __init__(self, files, trust, at, manifest):
        self.faults, self.unknown = [], False
        self.bundle = Bundle(files, self.fault)
        self.at, self.state, self.played, self.closes = at, State(), {}, {}
        self.twice, self.named, self.needs, self.openers = {}, set(), [], {}
        self.keys, self.rotations, self.values, self.auditor = [], [], {}, None
        self.trusted, self.policy, self.due = [], None, []
        self.read_trust(trust)
        self.manifest = manifest
        self.cosigned, self.spoilt, self.heads = {}, 0, []
        self.diverged = self.unsigned = False

    def fault(self, code, entry=None, shuffle=None, where=""):
        """Add a fault."""
        self.faults.append((code, entry, shuffle, where))

    def read_trust(self, trust):
        """Read what is trusted: a key or a policy, an older checkpoint, an auditor's key."""
        if trust.get("vkey"):
            self.policy = Policy(f"log {trust['vkey']}\nquorum none\n")
        if trust.get("policy"):
            self.policy = Policy(trust["policy"])
        if self.policy:
            self.trusted = self.due = self.policy.logs
        self.since = Checkpoint(trust["since"]) if trust.get("since") else None
        if trust.get("auditor"):
            self.auditor = disclosure.SealingKey(trust["auditor"][0], trust["auditor"][1:])

    def in_force(self):
        """Return the signing keys in force."""
        origin = self.state.genesis["origin"] if self.state.genesis else ""
        return [vkey_of(origin, key) for key in self.state.signing_in_force.values()]

    def judge(self):
        """Find every fault, and what the levels depend on."""
        files = self.bundle.files
        try:
            self.newest = Checkpoint(files["checkpoint"].decode())
            if self.newest.size == 0:
                raise Malformed("checkpoint")
        except (KeyError, Malformed, UnicodeDecodeError):
            self.fault("checkpoint", where="checkpoint")
            return
        text = files.get("manifest.json")
        if text is None:
            self.fault("file", where="manifest.json")
        elif self.manifest(text.decode()) != "ok":
            self.fault("manifest", where="manifest.json")
        if not self.bundle.read_entries(self.newest):
            return
        self.points = self.in_order()
        for index, raw in enumerate(self.bundle.entries):
            self.look(index)
            self.entry(index, raw)
        self.look(self.newest.size)
        self.finish(text)

    def in_order(self):
        """Return the checkpoints of both lists and the newest, by size. One that is out of order
        is a fault, and so is one that is too large for the two behind it. The first one of a list that is larger than the newest is judged at the
        newest one's size."""
        points = [(self.newest.size, "newest", "checkpoint", self.newest)]
        for kind in ("cosigned", "signed"):
            size, beyond = 0, False
            listed = list(self.bundle.listed(kind))
            for at, (where, checkpoint) in enumerate(listed):
                behind = [c.size for _, c in listed[at + 1:] if c][:2]
                if checkpoint is None or checkpoint.size <= size or (
                        len(behind) == 2 and size < behind[0] and max(behind) <= checkpoint.size):
                    self.fault("checkpoint", where=where)
                    self.spoilt += kind == "cosigned"
                    continue
                size = checkpoint.size
                if size <= self.newest.size:
                    points.append((size, kind, where, checkpoint))
                elif not beyond:
                    beyond = True
                    points.append((self.newest.size, "beyond", where, checkpoint))
        return sorted(points, key=lambda point: point[0])

    def look(self, size):
        """Judge the checkpoints of one size."""
        points = [point[1:] for point in self.points if point[0] == size]
        due = self.rotations and self.rotations[-1][0] + 1 == size
        if due and any(kind != "beyond" and self.handed_on(checkpoint) for kind, _, checkpoint in points):
            self.rotations.pop()
            due = False
        for kind, where, checkpoint in points:
            self.point(kind, where, checkpoint, due)
        if self.since and self.since.size == size and not (
                (self.bundle.lost or signed_by_each(self.since, self.in_force()))
                and self.bundle.root(size) in (None, self.since.root)):
            self.fault("since")

    def point(self, kind, where, checkpoint, due):
        """Judge one checkpoint. If `due` is true, a missing signature is part of the fault `rotation`."""
        signed = self.in_force() and signed_by_each(checkpoint, self.in_force())
        if kind == "beyond":
            if not signed and not self.bundle.lost:
                self.fault("checkpoint_size", where=where)
            return
        if kind == "newest":
            self.vouch(checkpoint, self.in_force())
        root = self.bundle.root(checkpoint.size)
        if not signed and self.state.genesis and not self.bundle.lost:
            if not due:
                self.fault("signature", where=where)
                self.unsigned = self.unsigned or kind == "newest"
        elif root not in (None, checkpoint.root):
            if not self.diverged:
                self.fault("root", where=where)
            self.diverged = True
        else:
            self.diverged = False
        if kind == "cosigned":
            if not signed or root not in (None, checkpoint.root):
                self.spoilt += 1
                return
            if Policy(self.state.policy_text).complete(checkpoint) is None:
                self.fault("quorum", where=where)
            self.cosigned[checkpoint.size] = checkpoint

    def handed_on(self, checkpoint):
        """Whether a checkpoint has signatures of the keys before and after the newest hand-over."""
        before, after = self.rotations[-1][1], self.in_force()
        held = signed_by_each(checkpoint, before) and signed_by_each(checkpoint, after)
        if held:
            self.vouch(checkpoint, before + after)
        return held

    def vouch(self, checkpoint, keys):
        """Find which of these keys are trusted and signed. No key of their algorithms is due any more."""
        kinds = {key.kind for key in self.due if key in keys and signed_by_each(checkpoint, [key])}
        if kinds:
            self.due = [key for key in self.due
                        if key.name == checkpoint.origin and key.kind not in kinds]

    def entry(self, index, raw):
        """Judge one entry, and let it take effect."""
        if index in self.bundle.lost:
            self.state.skip()
            return
        try:
            entry = Entry(raw)
        except Malformed:
            self.fault("malformed", index, where=self.bundle.where)
            entry = None
        except Unknown:
            self.unknown, entry = True, None
        if entry is None:
            self.bundle.lost.add(index)
            self.state.skip()
            return
        broken = None
        try:
            rules.check(self.state, entry)
        except Broken as error:
            broken = error.rule
            shuffle = entry.body.get("shuffle")
            if entry.kind == "commit":
                shuffle = index
            judged = self.state.shuffles.get(shuffle)
            if not lost.excused(broken, entry, index, self.bundle.lost, self.undealt(entry),
                                judged.counted if judged else 0):
                self.fault("rule_" + broken, index, shuffle)
        before = self.in_force()
        self.state.apply(entry)
        follow = getattr(self, "follow_" + entry.kind, None)
        if follow:
            follow(index, entry, broken, before)

    def undealt(self, entry):
        """Return the lowest id of an undealt open shuffle of the entry's table, or 0."""
        table = self.state.shuffle_table(entry)
        waiting = self.state.tables[table].waiting.values() if table in self.state.tables else ()
        return min((shuffle.id for shuffle in waiting), default=0)

    def finish(self, text):
        """Find the faults that show only at the end."""
        for index, _ in self.rotations:
            if not self.bundle.lost:
                self.fault("rotation", index)
        named = self.bundle.lost or self.rotations or self.unsigned
        if self.due and not named:
            self.fault("key_not_in_force")
        missing = list(dict.fromkeys(size for _, _, size in self.needs))[self.spoilt:]
        for index, shuffle, size in self.needs:
            if size in missing:
                self.fault("cosigned_missing", index, shuffle)
        for shuffle in sorted(self.closes):
            self.tape(shuffle, *self.closes[shuffle])
        if self.policy and self.policy.quorum != "none" and self.cosigned \
                and self.policy.complete(self.cosigned[max(self.cosigned)]) is None:
            self.fault("quorum")
        same = self.cosigned.get(self.newest.size)
        if same and not set(self.newest.note.lines) <= set(same.note.lines):
            self.fault("checkpoint", where="checkpoint")
        self.act_heads()
        if text is not None and self.manifest(text.decode()) == "ok":
            exported = datetime.strptime(json.loads(text)["exported_at"], "%Y-%m-%dT%H:%M:%S.%fZ")
            if exported.replace(tzinfo=timezone.utc).timestamp() * 1000 < self.state.time - LATE:
                self.fault("manifest", where="manifest.json")

    def act_heads(self):
        """Find the first act whose head is of another history, if the ledger is whole (SPEC 14.1)."""
        if self.unknown or self.bundle.lost or {code for code, *_ in self.faults} & NOT_WHOLE:
            return
        wrong = [head for head in self.heads if self.bundle.root(head[0]) != head[2]]
        if wrong:
            self.fault("act_head", min(wrong)[1])

    def level(self, shuffle):
        """Return the level of a shuffle (SPEC 14.2). It is never mixed, because that needs a beacon."""
        if not self.trusted:
            return "key not pinned"
        origin = self.state.genesis["origin"]
        if not gives_level(self.policy, origin, self.keys):
            return "recorded"
        first, time = self.played.get(shuffle.id, (None, None))
        for size, checkpoint in self.cosigned.items():
            second = self.policy.complete(checkpoint)
            if second is not None and size > shuffle.id and (
                    first is None or size <= first and second * 1000 <= time + LATE):
                return "witnessed"
        return "recorded"

    def report(self):
        """Judge the ledger, and return the members of the report that the vectors have."""
        self.judge()
        verdict = "failed" if self.faults else "cannot judge" if self.unknown else \
            "proved" if self.trusted else "consistent"
        levels, still_open, overdue = {}, 0, 0
        for shuffle in self.state.shuffles.values():
            name = self.level(shuffle)
            levels[name] = levels.get(name, 0) + 1
            if shuffle.open or shuffle.continued and not shuffle.disclosed:
                still_open += 1
                overdue += shuffle.last.body["close_by"] <= self.at
        return {"verdict": verdict, "faults": sorted(self.faults, key=str), "levels": levels,
                "open": still_open, "overdue": overdue}
