"""ML-DSA-44 verification (FIPS 204), with an empty context."""

import hashlib

Q = 8_380_417
DROPPED = 13
TAU = 39
GAMMA1 = 2**17
GAMMA2 = (Q - 1) // 88
ROWS = COLUMNS = 4
BETA = 78
OMEGA = 80
KEY_SIZE = 1_312
SIGNATURE_SIZE = 2_420


def reverse_bits(number):
    """The eight bits of a number in reverse order."""
    return int(f"{number:08b}"[::-1], 2)


ZETAS = [pow(1753, reverse_bits(i), Q) for i in range(256)]


def ntt(poly):
    """FIPS 204, algorithm 41."""
    values = list(poly)
    zeta_index, length = 0, 128
    while length >= 1:
        for start in range(0, 256, 2 * length):
            zeta_index += 1
            zeta = ZETAS[zeta_index]
            for j in range(start, start + length):
                t = zeta * values[j + length] % Q
                values[j + length] = (values[j] - t) % Q
                values[j] = (values[j] + t) % Q
        length //= 2
    return values


def inverse_ntt(poly):
    """FIPS 204, algorithm 42."""
    values = list(poly)
    zeta_index, length = 256, 1
    while length < 256:
        for start in range(0, 256, 2 * length):
            zeta_index -= 1
            zeta = -ZETAS[zeta_index]
            for j in range(start, start + length):
                t = values[j]
                values[j] = (t + values[j + length]) % Q
                values[j + length] = zeta * (t - values[j + length]) % Q
        length *= 2
    return [value * 8_347_681 % Q for value in values]


def unpack(raw, bits):
    """Return 256 integers of so many bits each, little-endian."""
    number = int.from_bytes(raw, "little")
    mask = 2**bits - 1
    return [number >> bits * i & mask for i in range(256)]


def expand_matrix(rho):
    """FIPS 204, algorithm 32."""
    return [[reject_uniform(rho + bytes([column, row])) for column in range(COLUMNS)]
            for row in range(ROWS)]


def reject_uniform(seed):
    """FIPS 204, algorithm 30."""
    stream = hashlib.shake_128(seed).digest(3 * 512)
    values, position = [], 0
    while len(values) < 256:
        value = int.from_bytes(stream[position:position + 3], "little") & 0x7fffff
        position += 3
        if value < Q:
            values.append(value)
    return values


def sample_in_ball(seed):
    """FIPS 204, algorithm 29."""
    stream = hashlib.shake_256(seed).digest(8 + 1_024)
    signs = int.from_bytes(stream[:8], "little")
    poly = [0] * 256
    position = 8
    for i in range(256 - TAU, 256):
        while stream[position] > i:
            position += 1
        j = stream[position]
        position += 1
        poly[i] = poly[j]
        poly[j] = -1 if signs & 1 else 1
        signs >>= 1
    return poly


def decode_hints(raw):
    """FIPS 204, algorithm 21: hints by row, or None."""
    hints = [[0] * 256 for _ in range(ROWS)]
    index = 0
    for row in range(ROWS):
        end = raw[OMEGA + row]
        if end < index or end > OMEGA:
            return None
        first = index
        while index < end:
            if index > first and raw[index - 1] >= raw[index]:
                return None
            hints[row][raw[index]] = 1
            index += 1
    if any(raw[index:OMEGA]):
        return None
    return hints


def use_hint(hint, value):
    """FIPS 204, algorithm 40."""
    low = value % (2 * GAMMA2)
    if low > GAMMA2:
        low -= 2 * GAMMA2
    if value - low == Q - 1:
        high, low = 0, low - 1
    else:
        high = (value - low) // (2 * GAMMA2)
    if hint == 0:
        return high
    return (high + (1 if low > 0 else -1)) % 44


def pack_w1(rows):
    """w1Encode of FIPS 204: six bits each."""
    packed = b""
    for row in rows:
        number = 0
        for i, value in enumerate(row):
            number |= value << 6 * i
        packed += number.to_bytes(192, "little")
    return packed


def verify(key, message, signature):
    """Whether a signature of a message is the key's (FIPS 204, algorithms 3 and 8)."""
    if len(key) != KEY_SIZE or len(signature) != SIGNATURE_SIZE:
        return False
    challenge_hash = signature[:32]
    z = [[GAMMA1 - value for value in unpack(signature[32 + 576 * i:608 + 576 * i], 18)]
         for i in range(COLUMNS)]
    hints = decode_hints(signature[32 + 576 * COLUMNS:])
    if hints is None or any(abs(value) >= GAMMA1 - BETA for poly in z for value in poly):
        return False
    t1 = [unpack(key[32 + 320 * i:352 + 320 * i], 10) for i in range(ROWS)]
    digest = hashlib.shake_256(key).digest(64)
    mu = hashlib.shake_256(digest + b"\0\0" + message).digest(64)
    challenge = ntt(sample_in_ball(challenge_hash))
    matrix = expand_matrix(key[:32])
    z_hat = [ntt(poly) for poly in z]
    w1 = []
    for row in range(ROWS):
        t_hat = ntt([value << DROPPED for value in t1[row]])
        sums = [(sum(matrix[row][c][i] * z_hat[c][i] for c in range(COLUMNS))
                 - challenge[i] * t_hat[i]) % Q for i in range(256)]
        w1.append([use_hint(hint, value) for hint, value in zip(hints[row], inverse_ntt(sums))])
    return hashlib.shake_256(mu + pack_w1(w1)).digest(32) == challenge_hash
