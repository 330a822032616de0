"""From bytes to draws, and mixes: SPEC 2, 4.2 and 4.3."""

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes


class TapeOut(Exception):
    """The tape has run out (SPEC 2.4)."""


def lane_width(k):
    """Return the number of bytes of a lane of a draw 1..k (SPEC 2.1)."""
    if k == 1:
        return 0
    if k <= 2**6:
        return 1
    if k <= 2**14:
        return 2
    return 4


class Tape:
    """A tape. Each of its bytes is read once, in order."""

    def __init__(self, data):
        self.data = data
        self.position = 0

    def read(self, size):
        """Return the next bytes. Raise TapeOut if fewer are left."""
        end = self.position + size
        if end > len(self.data):
            raise TapeOut()
        raw = self.data[self.position:end]
        self.position = end
        return raw


class Keystream:
    """The AES-256-CTR keystream of a key with a zero initial counter block."""

    def __init__(self, key):
        self.encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def read(self, size):
        """Return the next bytes. A keystream does not run out."""
        return self.encryptor.update(bytes(size))


def draw(source, k):
    """Return one draw 1..k (SPEC 2.1)."""
    width = lane_width(k)
    if width == 0:
        return 1
    limit = 2**(8 * width) // k * k
    while True:
        lane = int.from_bytes(source.read(width), "big")
        if lane < limit:
            return 1 + lane % k


def swaps(order_size, draws):
    """Return what the swaps of SPEC 2.2 and 2.5 take. Only entries that moved are stored,
    because n of numbers can be 2^30."""
    moved = {}
    taken = []
    for i, drawn in enumerate(draws):
        j = i + drawn - 1
        assert j < order_size
        at_i, at_j = moved.get(i, i), moved.get(j, j)
        moved[i], moved[j] = at_j, at_i
        taken.append(at_j)
    return taken


def shuffle_ranges(n, m):
    """Return the ranges of the draws that take m of n."""
    return [n - i for i in range(m)]


def tape_length(ranges):
    """Return L (SPEC 2.3) for the ranges of all draws, including that of a drawn end_at."""
    widths = [lane_width(k) for k in ranges]
    total = sum(widths)
    return total + (total + 1) // 2 + 52 * max(1, max(widths, default=0))


def recipe_ranges(context):
    """Return the ranges of all draws of a context (SPEC 2.2, 2.5). A drawn end_at is the last one."""
    if context["kind"] == 2:
        return list(context["ranges"])
    if context["kind"] == 3:
        return shuffle_ranges(context["of"], context["m"])
    ranges = shuffle_ranges(context["n"], context["m"])
    end_at = context["end_at"]
    if end_at["form"] == 2:
        ranges.append(end_at["hi"] - end_at["lo"] + 1)
    return ranges


def value_ranges(context):
    """Return the range of each position of draws or numbers."""
    if context["kind"] == 2:
        return list(context["ranges"])
    return shuffle_ranges(context["of"], context["m"])


def size(context):
    """Return m, the number of positions."""
    return len(context["ranges"]) if context["kind"] == 2 else context["m"]


def values_of_tape(context, tape):
    """Return the values by position, and the place of a drawn cut card or None. May raise TapeOut."""
    source = Tape(tape)
    drawn = [draw(source, k) for k in recipe_ranges(context)]
    if context["kind"] != 1:
        return drawn, None
    end_at = None
    if context["end_at"]["form"] == 2:
        end_at = context["end_at"]["lo"] + drawn.pop() - 1
    return swaps(context["n"], drawn), end_at


def mix_positions(seed, m):
    """Return P of SPEC 4.3, without the cut."""
    stream = Keystream(seed)
    return swaps(m, [draw(stream, k) for k in shuffle_ranges(m, m)])


def shift(value, by, k):
    """Return 1 + (v - 1 + u - 1) mod k (SPEC 4.3)."""
    return 1 + (value - 1 + by - 1) % k


def mix_draws(seed, ranges):
    """Return u of each position (SPEC 4.3)."""
    stream = Keystream(seed)
    return [draw(stream, k) for k in ranges]


def numbers(n, draws):
    """Return the numbers that draws take (SPEC 2.5)."""
    return [1 + x for x in swaps(n, draws)]
