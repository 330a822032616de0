"""Bundles of fewer than 256 entries, or without any entry and tile: SPEC 13.1 and 14.4."""

import re

import lost
from errors import Malformed
from merkle import leaf_hash, root_of
from notes import Checkpoint

WIDTH, GAP = 256, 16


def frames(data):
    """Return the items of a file. Each stands behind its length, a u16, and none is empty."""
    found = []
    while data:
        size = 2 + int.from_bytes(data[:2], "big")
        if len(data) < size or size == 2:
            raise Malformed("frames")
        found.append(data[2:size])
        data = data[size:]
    return found


def number(k):
    """Return a number below a million as tlog-tiles writes it."""
    return f"{k:03d}" if k < 1000 else f"x{k // 1000:03d}/{k % 1000:03d}"


class Bundle:
    """The files of a bundle. `fault` is called for each fault in them."""

    def __init__(self, files, fault):
        self.files = files
        self.fault = fault
        self.lost = set()
        self.entries = []
        self.leaves = []        # leaf hashes; None if neither an entry nor a tile gives one
        self.where = ""

    def path(self, folder, run, width):
        """Return the path of a run of entries, hashes or checkpoints."""
        name = f"{folder}/{number(run)}"
        return name if width == WIDTH else f"{name}.p/{width}"

    def read_entries(self, newest):
        """Read all entries and their leaf hashes. Return False if the first 16 runs hold nothing."""
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
        """Read one run, and decide which of its entries are lost (SPEC 14.4)."""
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
        """Return the entries of a file, or as many None if it is missing or not of its form."""
        try:
            found = frames(self.files[where])
            if len(found) == width:
                return found
        except (KeyError, Malformed):
            pass
        self.fault("file", where=where)
        return [None] * width

    def tile(self, where, width):
        """Return the hashes of a tile, or None if it is missing or has another length."""
        data = self.files.get(where)
        if data is None or len(data) != 32 * width:
            self.fault("file", where=where)
            return None
        return [data[i:i + 32] for i in range(0, len(data), 32)]

    def listed(self, folder):
        """Return the checkpoints of a list, each behind its file. A malformed one is None."""
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
        """Return the root of the first entries, or None if one of their leaf hashes is not known."""
        leaves = self.leaves[:size]
        return None if None in leaves or len(leaves) < size else root_of(leaves)
