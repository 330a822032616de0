"""Points of P-256, and keys of ML-KEM-768 in their canonical encoding (SPEC 9, rule key)."""

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551
B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b


def is_point(raw):
    """Whether 65 bytes are an uncompressed point of the curve."""
    if len(raw) != 65 or raw[0] != 4:
        return False
    x, y = int.from_bytes(raw[1:33], "big"), int.from_bytes(raw[33:], "big")
    return x < P and y < P and (y * y - x * x * x + 3 * x - B) % P == 0


def is_encapsulation_key(raw):
    """Whether bytes are an encapsulation key: 1,184 bytes, and all numbers of 12 bits below 3,329."""
    if len(raw) != 1_184:
        return False
    for i in range(0, 1_152, 3):
        three = int.from_bytes(raw[i:i + 3], "little")
        if three & 0xfff >= 3_329 or three >> 12 >= 3_329:
            return False
    return True


def is_sealing_key(key):
    """Whether the points in a disclosure or auditor key (type byte first) are proper."""
    return is_point(key[-65:]) and (key[0] == 1 or is_encapsulation_key(key[1:-65]))
