"""ML-KEM-768 (FIPS 203): keys from a seed, and decapsulation."""

import hashlib

Q = 3_329
K = 3
ETA = 2
DU, DV = 10, 4


def reverse_bits(number):
    """The seven bits of a number in reverse order."""
    return int(f"{number:07b}"[::-1], 2)


ZETAS = [pow(17, reverse_bits(i), Q) for i in range(128)]
GAMMAS = [pow(17, 2 * reverse_bits(i) + 1, Q) for i in range(128)]


def ntt(poly):
    """FIPS 203, algorithm 9."""
    values = list(poly)
    i, length = 1, 128
    while length >= 2:
        for start in range(0, 256, 2 * length):
            zeta = ZETAS[i]
            i += 1
            for j in range(start, start + length):
                t = zeta * values[j + length] % Q
                values[j + length] = (values[j] - t) % Q
                values[j] = (values[j] + t) % Q
        length //= 2
    return values


def inverse_ntt(poly):
    """FIPS 203, algorithm 10."""
    values = list(poly)
    i, length = 127, 2
    while length <= 128:
        for start in range(0, 256, 2 * length):
            zeta = ZETAS[i]
            i -= 1
            for j in range(start, start + length):
                t = values[j]
                values[j] = (t + values[j + length]) % Q
                values[j + length] = zeta * (values[j + length] - t) % Q
        length *= 2
    return [value * 3_303 % Q for value in values]


def multiply(one, other):
    """FIPS 203, algorithm 11."""
    product = []
    for i in range(128):
        a0, a1, b0, b1 = one[2 * i], one[2 * i + 1], other[2 * i], other[2 * i + 1]
        product += [(a0 * b0 + a1 * b1 * GAMMAS[i]) % Q, (a0 * b1 + a1 * b0) % Q]
    return product


def add(*polys):
    """Return the sum of polynomials."""
    return [sum(values) % Q for values in zip(*polys)]


def dot(row, column):
    """Return the sum of products of two vectors in the NTT domain."""
    return add(*[multiply(a, b) for a, b in zip(row, column)])


def encode(poly, bits):
    """FIPS 203, algorithm 5."""
    number = 0
    for i, value in enumerate(poly):
        number |= value << bits * i
    return number.to_bytes(32 * bits, "little")


def decode(raw, bits):
    """FIPS 203, algorithm 6."""
    number = int.from_bytes(raw, "little")
    return [number >> bits * i & 2**bits - 1 for i in range(256)]


def compress(poly, bits):
    """Compress of FIPS 203, section 4.2.1."""
    return [((value << bits) + Q // 2) // Q % 2**bits for value in poly]


def decompress(poly, bits):
    """Decompress of FIPS 203, section 4.2.1."""
    return [(value * Q + 2**(bits - 1)) >> bits for value in poly]


def sample_ntt(seed):
    """FIPS 203, algorithm 7."""
    stream = hashlib.shake_128(seed).digest(3 * 1_024)
    values, i = [], 0
    while len(values) < 256:
        c0, c1, c2 = stream[i:i + 3]
        for value in (c0 + 256 * (c1 % 16), c1 // 16 + 16 * c2):
            if value < Q and len(values) < 256:
                values.append(value)
        i += 3
    return values


def sample_cbd(seed, counter):
    """FIPS 203, algorithm 8, with the bytes of PRF."""
    raw = hashlib.shake_256(seed + bytes([counter])).digest(64 * ETA)
    bits = [int.from_bytes(raw, "little") >> i & 1 for i in range(1_024)]
    return [(bits[4 * i] + bits[4 * i + 1] - bits[4 * i + 2] - bits[4 * i + 3]) % Q
            for i in range(256)]


def matrix(rho):
    """Return A of K-PKE."""
    return [[sample_ntt(rho + bytes([j, i])) for j in range(K)] for i in range(K)]


class PrivateKey:
    """A private key from its seed d || z."""

    def __init__(self, seed):
        d, self.z = seed[:32], seed[32:]
        expanded = hashlib.sha3_512(d + bytes([K])).digest()
        rho, sigma = expanded[:32], expanded[32:]
        a = matrix(rho)
        self.s = [ntt(sample_cbd(sigma, i)) for i in range(K)]
        e = [ntt(sample_cbd(sigma, K + i)) for i in range(K)]
        t = [add(dot(a[i], self.s), e[i]) for i in range(K)]
        self.public = b"".join(encode(poly, 12) for poly in t) + rho

    def decapsulate(self, ciphertext):
        """FIPS 203, algorithm 18."""
        message = self.decrypt(ciphertext)
        hashed = hashlib.sha3_512(message + hashlib.sha3_256(self.public).digest()).digest()
        rejected = hashlib.shake_256(self.z + ciphertext).digest(32)
        again = encrypt(self.public, message, hashed[32:])
        return hashed[:32] if again == ciphertext else rejected

    def decrypt(self, ciphertext):
        """FIPS 203, algorithm 15."""
        size = 32 * DU
        u = [decompress(decode(ciphertext[size * i:size * (i + 1)], DU), DU) for i in range(K)]
        v = decompress(decode(ciphertext[size * K:], DV), DV)
        inner = inverse_ntt(dot(self.s, [ntt(poly) for poly in u]))
        return encode(compress([(a - b) % Q for a, b in zip(v, inner)], 1), 1)


def encrypt(public, message, randomness):
    """FIPS 203, algorithm 14."""
    t = [decode(public[384 * i:384 * (i + 1)], 12) for i in range(K)]
    a = matrix(public[384 * K:])
    y = [ntt(sample_cbd(randomness, i)) for i in range(K)]
    e1 = [sample_cbd(randomness, K + i) for i in range(K)]
    e2 = sample_cbd(randomness, 2 * K)
    u = [add(inverse_ntt(dot([a[j][i] for j in range(K)], y)), e1[i]) for i in range(K)]
    mu = decompress(decode(message, 1), 1)
    v = add(inverse_ntt(dot(t, y)), e2, mu)
    return (b"".join(encode(compress(poly, DU), DU) for poly in u)
            + encode(compress(v, DV), DV))
