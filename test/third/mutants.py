"""Makes mutants of the vectors, and judges them.

python3 mutants.py TREE COUNT SEED writes a line of JSON for each: its name, the file (base64), the
trust and the verdict. The same seed gives the same mutants.
"""

import base64
import copy
import json
import random
import sys
from pathlib import Path

import judge_files
from resign import Resigner, lone_receipt
from transcript import one_form, write
from errors import Malformed
from verify import verify


def flip_text(chance, raw):
    """Return bytes with one byte or bit changed, or with some bytes deleted, doubled or moved."""
    data = bytearray(raw)
    if not data:
        return b"{"
    at = chance.randrange(len(data))
    end = min(len(data), at + chance.choice((1, 1, 2, 5, 40)))
    how = chance.randrange(5)
    if how == 0:
        data[at] ^= 1 << chance.randrange(8)
    elif how == 1:
        data[at] = chance.choice(b'0123456789azAZ+/="\\,:{}[]\n ')
    elif how == 2:
        del data[at:end]
    elif how == 3:
        data[at:at] = data[at:end]
    else:
        piece = bytes(data[at:end])
        del data[at:end]
        to = chance.randrange(len(data) + 1)
        data[to:to] = piece
    return bytes(data)


def tree_of(value):
    """Return JSON with its objects as lists of pairs that can be changed."""
    if isinstance(value, tuple):
        return {"pairs": [[name, tree_of(item)] for name, item in value]}
    if isinstance(value, list):
        return [tree_of(item) for item in value]
    return value


def value_of(tree):
    """Return the value of such a tree."""
    if isinstance(tree, dict):
        return tuple((name, value_of(item)) for name, item in tree["pairs"])
    if isinstance(tree, list):
        return [value_of(item) for item in tree]
    return tree


def places_of(tree, found):
    """Add each value in a tree to `found`, as its holder and the key in it."""
    if isinstance(tree, dict):
        for pair in tree["pairs"]:
            found.append((pair, 1))
            places_of(pair[1], found)
    elif isinstance(tree, list):
        for i, item in enumerate(tree):
            found.append((tree, i))
            places_of(item, found)
    return found


def other_scalar(chance, value):
    """Return another number, or a changed string."""
    if isinstance(value, int):
        return chance.choice((0, 1, value + 1, max(0, value - 1), -1, 4096, 2**32, 2**53))
    lines = value.split("\n")
    how = chance.randrange(4)
    if how == 0 and len(lines) > 1:
        del lines[chance.randrange(len(lines))]
    elif how == 1 and len(lines) > 1:
        i = chance.randrange(len(lines))
        lines.insert(i, lines[i])
    elif how == 2 and len(lines) > 2:
        i = chance.randrange(len(lines) - 1)
        lines[i], lines[i + 1] = lines[i + 1], lines[i]
    else:
        return flip_text(chance, value.encode()).decode("utf-8", "replace")
    return "\n".join(lines)


def change_json(chance, raw):
    """Return a transcript with one or two values in its JSON changed, in the one form. If that
    is impossible, change bytes."""
    try:
        tree = tree_of(one_form(raw))
    except Malformed:
        return flip_text(chance, raw)
    places = places_of(tree, [])
    for _ in range(chance.choice((1, 1, 1, 2))):
        holder, key = chance.choice(places)
        if key >= len(holder):
            continue
        value = holder[key]
        if isinstance(value, (int, str)):
            holder[key] = other_scalar(chance, value)
        elif isinstance(value, list) and value:
            i, j = chance.randrange(len(value)), chance.randrange(len(value))
            how = chance.randrange(3)
            if how == 0:
                del value[i]
            elif how == 1:
                value.insert(j, copy.deepcopy(value[i]))
            else:
                value[i], value[j] = value[j], value[i]
        elif isinstance(value, dict):
            del value["pairs"][chance.randrange(len(value["pairs"]))]
    try:
        return write(value_of(tree)).encode("utf-8", "surrogatepass")
    except (Malformed, TypeError):
        return flip_text(chance, raw)


def change_policy(chance, text):
    """Return a policy with a line deleted, doubled, moved or damaged, or with a word exchanged."""
    lines = text.split("\n")
    i, j = chance.randrange(len(lines)), chance.randrange(len(lines))
    how = chance.randrange(6)
    if how == 0:
        del lines[i]
    elif how == 1:
        lines.insert(j, lines[i])
    elif how == 2:
        lines[i], lines[j] = lines[j], lines[i]
    elif how == 3:
        lines[i] = flip_text(chance, lines[i].encode() or b"#").decode("utf-8", "replace")
    else:
        words = lines[i].split(" ")
        words[chance.randrange(len(words))] = chance.choice(
            ("any", "all", "none", "1", "2", "3", "a", "b", "g", "quorum", "#", "\t", "log"))
        lines[i] = " ".join(words)
    return "\n".join(lines)


def change_trust(chance, trust, others):
    """Return the trust with a changed policy, no trust, or the trust of another vector."""
    trust = copy.deepcopy(trust)
    names = [name for name in ("policy", "co_dealer") if name in trust]
    if names and chance.random() < 0.7:
        name = chance.choice(names)
        trust[name] = change_policy(chance, trust[name])
    elif chance.random() < 0.3:
        return {}
    else:
        return copy.deepcopy(chance.choice(others)["trust"])
    return trust


class Maker:
    """Makes mutants of all vectors of a tree."""

    def __init__(self, root, seed):
        self.chance = random.Random(seed)
        folder = Path(root) / "internal"
        files = sorted((folder / "verify/testdata/vectors").glob("*/*.json"))
        self.cases = [json.loads(path.read_text("utf-8")) for path in files]
        self.good = [case for case in self.cases if case["want"]["verdict"] in
                     ("proved", "consistent")]
        entries = json.loads((folder / "audit/testdata/entries.json").read_text("utf-8"))
        self.entries = [bytes.fromhex(case["bytes"]) for case in entries["good"] + entries["bad"]]
        legality = json.loads((folder / "audit/testdata/legality.json").read_text("utf-8"))
        self.entries += [bytes.fromhex(raw) for raw in legality["entries"]]

    def make(self):
        """Return one mutant: its name, its bytes and its trust."""
        kind = self.chance.choices(("text", "json", "deep", "entry", "trust"),
                                   (15, 20, 40, 15, 10))[0]
        if kind == "entry":
            raw = self.chance.choice(self.entries)
            if self.chance.random() < 0.8:
                raw = flip_text(self.chance, raw) if raw else b"\1"
            return ("entry", *lone_receipt(self.chance, raw))
        case = self.chance.choice(self.good if self.chance.random() < 0.9 else self.cases)
        raw, trust = judge_files.content(case), case["trust"]
        name = f"{kind} {case['name']}"
        if kind == "deep":
            made = Resigner(self.chance, raw, trust).mutant()
            if made is not None:
                return (name, *made)
            kind = "json"
        if kind == "trust":
            return name, raw, change_trust(self.chance, trust, self.cases)
        if kind == "json" and raw.startswith(b"{"):
            return name, change_json(self.chance, raw), trust
        return name, flip_text(self.chance, raw), trust


def main(root, count, seed):
    """Write the mutants and their verdicts."""
    maker = Maker(root, int(seed))
    for number in range(int(count)):
        name, raw, trust = maker.make()
        line = {"name": f"{seed}/{number} {name}", "file": base64.b64encode(raw).decode(),
                "trust": trust, "verdict": verify(raw, trust)}
        print(json.dumps(line))


if __name__ == "__main__":
    main(*sys.argv[1:])
