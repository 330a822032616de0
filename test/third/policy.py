"""Witness policies and quorums: SPEC 7.3."""

import re

from errors import Malformed, Unknown
from notes import COSIGNATURE, ED25519, LATEST_TIME, ML_DSA, parse_vkey

MAX_FILE = 131_072
MAX_LINE = 8_192
MAX_EACH = 64
WORDS = {"log", "witness", "group", "quorum", "any", "all", "none"}


class Group:
    """A group. Its members are units: `witness ` or `group `, and a name."""

    def __init__(self, threshold, members):
        self.threshold = threshold
        self.members = members


class Policy:
    """A policy. The constructor raises Malformed, or Unknown if the quorum needs a key of a later type."""

    def __init__(self, text):
        if len(text.encode("utf-8", "surrogatepass")) > MAX_FILE:
            raise Malformed("policy")
        self.logs = []
        self.lines = []         # (name, Key) of each witness line
        self.witness_of = {}    # by name of a line, the name in its key: one witness can have several lines
        self.groups = {}
        self.quorum = None
        self.parents = {}
        for line in text.removesuffix("\n").split("\n") if text else []:
            self.read_line(line)
        if self.quorum is None:
            raise Malformed("policy without quorum")
        if self.quorum not in ("none", *self.witness_of, *self.groups):
            raise Malformed("quorum")
        self.check_keys()
        known = {key.name for _, key in self.lines if key.kind in (COSIGNATURE, ML_DSA)}
        if not self.met(known):
            raise Unknown("the quorum needs a witness key of a later type")

    def read_line(self, line):
        """Read one line."""
        if len(line.encode("utf-8", "surrogatepass")) > MAX_LINE:
            raise Malformed("line of a policy")
        if re.search("[\x00-\x08\x0a-\x1f\x7f-\x9f\ud800-\udfff]", line):
            raise Malformed("line of a policy")
        fields = [field for field in re.split("[ \t]", line) if field]
        if not fields or fields[0].startswith("#"):
            return
        if not re.fullmatch(r"[\x20-\x22\x24-\x7e\t]*", line):
            raise Malformed("line of a policy")
        readers = {"log": self.read_log, "witness": self.read_witness,
                   "group": self.read_group, "quorum": self.read_quorum}
        if fields[0] not in readers:
            raise Malformed("line of a policy")
        readers[fields[0]](fields[1:])

    def read_log(self, fields):
        """Read `log` vkey [URL]."""
        if not 1 <= len(fields) <= 2 or len(self.logs) == MAX_EACH:
            raise Malformed("log line")
        key = parse_vkey(fields[0], (ED25519, ML_DSA), 128)
        if key.kind not in (ED25519, ML_DSA):
            raise Malformed("log line")
        if any(same_public(key, other) for other in self.logs):
            raise Malformed("log line")
        self.logs.append(key)

    def read_witness(self, fields):
        """Read `witness` name vkey [URL]."""
        if not 2 <= len(fields) <= 3 or len(self.lines) == MAX_EACH:
            raise Malformed("witness line")
        self.new_name(fields[0])
        key = parse_vkey(fields[1], (COSIGNATURE, ML_DSA), 255)
        if any(same_public(key, other) for _, other in self.lines):
            raise Malformed("witness line")
        self.lines.append((fields[0], key))
        self.witness_of[fields[0]] = key.name

    def read_group(self, fields):
        """Read `group` name threshold members."""
        if len(fields) < 3 or len(self.groups) == MAX_EACH:
            raise Malformed("group line")
        name, threshold, names = fields[0], fields[1], fields[2:]
        self.new_name(name)
        if len(set(names)) != len(names):
            raise Malformed("group line")
        members = []
        for member in names:
            if member in self.witness_of:
                unit = "witness " + self.witness_of[member]
            elif member in self.groups:
                unit = "group " + member
            else:
                raise Malformed("group line")
            if self.parents.setdefault(unit, name) != name:
                raise Malformed("group line")
            if unit not in members:
                members.append(unit)
        self.groups[name] = Group(read_threshold(threshold, len(members)), members)

    def read_quorum(self, fields):
        """Read `quorum` name."""
        if len(fields) != 1 or self.quorum is not None:
            raise Malformed("quorum line")
        self.quorum = fields[0]

    def new_name(self, name):
        """Check that a name is no word of the syntax, and that no line above defines it."""
        if name in WORDS or name in self.witness_of or name in self.groups:
            raise Malformed("name in a policy")

    def check_keys(self):
        """Check that no witness has the name or the public key of a log line."""
        for _, key in self.lines:
            if any(key.name == log.name or key.typed == log.typed for log in self.logs):
                raise Malformed("a witness that is the log")

    @property
    def quorum_unit(self):
        """The quorum as a unit."""
        if self.quorum in self.witness_of:
            return "witness " + self.witness_of[self.quorum]
        return "group " + self.quorum

    def met(self, witnesses):
        """Whether witnesses, given by the names in their keys, meet the quorum."""
        return self.quorum == "none" or self.unit_met(self.quorum_unit, witnesses)

    def unit_met(self, unit, witnesses):
        """Whether witnesses meet a unit."""
        kind, _, name = unit.partition(" ")
        if kind == "witness":
            return name in witnesses
        group = self.groups[name]
        return sum(self.unit_met(m, witnesses) for m in group.members) >= group.threshold

    def overlap(self):
        """Return d: the smallest number of witnesses that two quorums have in common."""
        return 0 if self.quorum == "none" else self.unit_overlap(self.quorum_unit)

    def unit_overlap(self, unit):
        """Return d of a unit."""
        kind, _, name = unit.partition(" ")
        if kind == "witness":
            return 1
        group = self.groups[name]
        common = max(0, 2 * group.threshold - len(group.members))
        return sum(sorted(self.unit_overlap(m) for m in group.members)[:common])

    def cosignatures(self, checkpoint):
        """Return (name of the line, name of the witness, time) of each cosignature that counts,
        in the order of the lines."""
        found = []
        for name, key in self.lines:
            if key.kind in (COSIGNATURE, ML_DSA):
                time = checkpoint.cosigned_at(key)
                if time is not None and 1 <= time <= LATEST_TIME:
                    found.append((name, key.name, time))
        return found

    def complete(self, checkpoint):
        """Return the first second at which the quorum was complete over a checkpoint, or None."""
        found = self.cosignatures(checkpoint)
        for second in sorted({0} | {time for _, _, time in found}):
            if self.met({witness for _, witness, time in found if time <= second}):
                return second
        return None

    def cannot_judge(self, checkpoint):
        """Whether the quorum is not met, and lines of keys of later types could meet it."""
        witnesses = {witness for _, witness, _ in self.cosignatures(checkpoint)}
        later = {key.name for _, key in self.lines if key.kind not in (COSIGNATURE, ML_DSA)
                 and checkpoint.note.signatures_of(key)}
        return not self.met(witnesses) and self.met(witnesses | later)


def same_public(one, other):
    """Whether two keys have the same public key. Their names can differ."""
    return one.kind == other.kind and one.public == other.public


def read_threshold(text, count):
    """Read `any`, `all`, or a decimal from 1 to the number of members."""
    if text in ("any", "all"):
        return 1 if text == "any" else count
    if not re.fullmatch("[1-9][0-9]{0,3}", text) or int(text) > count:
        raise Malformed("threshold")
    return int(text)
