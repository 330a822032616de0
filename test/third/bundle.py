"""Bundles of fewer than 256 entries, or of which nothing is there: SPEC 13.1 and 14.4."""

import re

import lost
from errors import Malformed
from merkle import leaf_hash, root_of
from notes import Checkpoint

WIDTH, GAP = 256, 16


def frames(data):
    """What stands in a file, each after its length."""
    found = []
    while data:
        size = 2 + int.from_bytes(data[:2], "big")
        if len(data) < size or size == 2:
            raise Malformed("frames")
        found.append(data[2:size])
        data = data[size:]
    return found


def number(k):
    """A number as tlog-tiles writes it, below a million."""
    return f"{k:03d}" if k < 1000 else f"x{k // 1000:03d}/{k % 1000:03d}"


class Bundle:
    """The files of a bundle; what is wrong with them goes to `fault`."""

    def __init__(self, files, fault):
        self.files = files
        self.fault = fault
        self.lost = set()
        self.entries = []
        self.leaves = []        # leaf hashes, None where no tile gives one
        self.where = ""

    def path(self, folder, run, width):
        """The file of a run of entries or hashes."""
        name = f"{folder}/{number(run)}"
        return name if width == WIDTH else f"{name}.p/{width}"

    def read_entries(self, newest):
        """Entries and leaf hashes, as far as they are there. False after a gap."""
        run = 0
        while len(self.entries) < newest.size:
            width = min(WIDTH, newest.size - len(self.entries))
            self.read_run(run, width, newest.root)
            run += 1
            if run == GAP and not any(self.leaves) and not any(self.entries):
                self.fault("entries_missing", entry=0)
                return False
        return True

    def read_run(self, run, width, above):
        """One run, reconciled with its tile."""
        where, tile_where = self.path("tile/entries", run, width), self.path("tile/0", run, width)
        self.where = where
        own, tile = self.framed(where, width), self.tile(tile_where, width)
        hashes = [None if raw is None else leaf_hash(raw) for raw in own]
        first = len(self.entries)
        if tile is None:
            self.lost |= {first + i for i, raw in enumerate(own) if raw is None}
            self.leaves += hashes
        else:
            missing, faults = lost.lost_of_run(hashes, tile, above)
            self.lost |= {first + i for i in missing}
            for item in faults:
                code, _, place = item.partition(" ")
                if place:
                    self.fault(code, entry=first + int(place), where=where)
                else:
                    self.fault(code, where=tile_where)
            good = [tile[i] if i in missing else item for i, item in enumerate(hashes)]
            self.leaves += good
        self.entries += own

    def framed(self, where, width):
        """The entries of a file, None each where it is missing or not of its form."""
        try:
            found = frames(self.files[where])
            if len(found) == width:
                return found
        except (KeyError, Malformed):
            pass
        self.fault("file", where=where)
        return [None] * width

    def tile(self, where, width):
        """The hashes of a tile, or None."""
        data = self.files.get(where)
        if data is None or len(data) != 32 * width:
            self.fault("file", where=where)
            return None
        return [data[i:i + 32] for i in range(0, len(data), 32)]

    def listed(self, folder):
        """The checkpoints of a list: (file, Checkpoint, or None where it is malformed)."""
        sizes = [int(m[1]) for m in (re.fullmatch(folder + r"/000\.p/(\d+)", name)
                                     for name in self.files) if m]
        if not sizes:
            return []
        where = self.path(folder, 0, max(sizes))
        found = []
        for raw in frames(self.files[where]):
            try:
                found.append((where, Checkpoint(raw.decode())))
            except (Malformed, UnicodeDecodeError):
                found.append((where, None))
        return found

    def root(self, size):
        """The root of the first entries, or None."""
        leaves = self.leaves[:size]
        return None if None in leaves or len(leaves) < size else root_of(leaves)
