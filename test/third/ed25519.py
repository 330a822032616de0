"""Ed25519 under the rules of SPEC 7.1 and 10.1: points, and signatures, checked without the cofactor."""

import hashlib

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
IDENTITY = (0, 1, 1, 0)


def decode_point(raw):
    """Return the point of a canonical encoding (RFC 8032, 5.1.3) in extended coordinates, or None."""
    if len(raw) != 32:
        return None
    y = int.from_bytes(raw, "little")
    sign = y >> 255
    y &= 2**255 - 1
    if y >= P:
        return None
    numerator, denominator = (y * y - 1) % P, (D * y * y + 1) % P
    x = numerator * pow(denominator, 3, P) * pow(numerator * pow(denominator, 7, P),
                                                 (P - 5) // 8, P) % P
    if (denominator * x * x - numerator) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if (denominator * x * x - numerator) % P:
        return None
    if x == 0 and sign:
        return None
    if x % 2 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


def add(one, other):
    """Return the sum of two points."""
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c = 2 * one[3] * other[3] * D % P
    d = 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def multiply(scalar, point):
    """Return a multiple of a point."""
    result = IDENTITY
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def same(one, other):
    """Whether two points are the same."""
    return ((one[0] * other[2] - other[0] * one[2]) % P == 0
            and (one[1] * other[2] - other[1] * one[2]) % P == 0)


def small_order(point):
    """Whether a point is one of the eight of small order."""
    return same(multiply(8, point), IDENTITY)


def is_key(raw):
    """Whether bytes are a public key: canonical, and not of small order."""
    point = decode_point(raw)
    return point is not None and not small_order(point)


BASE = decode_point(bytes.fromhex("58" + "66" * 31))
CACHE = {}


def verify(key, message, signature):
    """Whether a signature is accepted (SPEC 7.1)."""
    question = (key, message, signature)
    if question not in CACHE:
        CACHE[question] = _verify(key, message, signature)
    return CACHE[question]


def _verify(key, message, signature):
    if len(signature) != 64:
        return False
    point, r_point = decode_point(key), decode_point(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if point is None or r_point is None or scalar >= ORDER or small_order(r_point):
        return False
    digest = hashlib.sha512(signature[:32] + key + message).digest()
    challenge = int.from_bytes(digest, "little") % ORDER
    # [S]B = R + [k]A
    return same(multiply(scalar, BASE), add(r_point, multiply(challenge, point)))
