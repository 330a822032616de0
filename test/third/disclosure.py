"""Disclosure to auditors: how wraps and sealed tapes open (SPEC 12)."""

import hashlib
import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

import mlkem
import p256
from hashes import label
from wire import str8, u8, u16, u64

KEM_IDS = {1: 0x0010, 2: 0x0050}
KDF_ID, AEAD_ID = 0x0001, 0x0002
CIPHERTEXT = 1_088


class DoesNotOpen(Exception):
    """A wrap or a sealed tape does not open, or does not hold what it must."""


def extract(salt, secret):
    """HKDF-Extract."""
    return hmac.new(salt or bytes(32), secret, hashlib.sha256).digest()


def expand(key, info, size):
    """HKDF-Expand."""
    output, block, counter = b"", b"", 1
    while len(output) < size:
        block = hmac.new(key, block + info + u8(counter), hashlib.sha256).digest()
        output += block
        counter += 1
    return output[:size]


def labeled_extract(suite, salt, name, secret):
    """LabeledExtract of RFC 9180."""
    return extract(salt, b"HPKE-v1" + suite + name + secret)


def labeled_expand(suite, key, name, info, size):
    """LabeledExpand of RFC 9180."""
    return expand(key, u16(size) + b"HPKE-v1" + suite + name + info, size)


def point_of(private):
    """Return the uncompressed point of a private key of P-256."""
    return private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def scalar_key(raw):
    """Return the private key of P-256 that these 32 bytes are."""
    scalar = int.from_bytes(raw, "big")
    if len(raw) != 32 or not 1 <= scalar < p256.ORDER:
        raise DoesNotOpen("not a private key of P-256")
    return ec.derive_private_key(scalar, ec.SECP256R1())


def shared_x(private, point):
    """Return the x coordinate of the Diffie-Hellman value."""
    if not p256.is_point(point):
        raise DoesNotOpen("a point that is none")
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    return private.exchange(ec.ECDH(), public)


class SealingKey:
    """The private key of an auditor, or the private half of a disclosure key."""

    def __init__(self, kind, private):
        self.kind = kind
        if kind == 1:
            self.curve = scalar_key(private)
            self.lattice = None
            self.public = u8(1) + point_of(self.curve)
            return
        if len(private) != 32:
            raise DoesNotOpen("a seed of another length")
        stream = hashlib.shake_256(private).digest(64 + 32 * 64)
        self.lattice = mlkem.PrivateKey(stream[:64])
        start = 64
        while not 1 <= int.from_bytes(stream[start:start + 32], "big") < p256.ORDER:
            start += 32
        self.curve = scalar_key(stream[start:start + 32])
        self.public = u8(2) + self.lattice.public + point_of(self.curve)

    def shared_secret(self, encapsulated):
        """Return the shared secret of the KEM."""
        point = point_of(self.curve)
        if self.kind == 1:
            suite = b"KEM" + u16(KEM_IDS[1])
            secret = labeled_extract(suite, b"", b"eae_prk", shared_x(self.curve, encapsulated))
            return labeled_expand(suite, secret, b"shared_secret", encapsulated + point, 32)
        lattice, sent = encapsulated[:CIPHERTEXT], encapsulated[CIPHERTEXT:]
        return hashlib.sha3_256(self.lattice.decapsulate(lattice) + shared_x(self.curve, sent)
                                + sent + point + b"MLKEM768-P256").digest()

    def open(self, name, origin, associated, sealed):
        """Open what is sealed to this key: `enc || ct`."""
        size = 65 if self.kind == 1 else CIPHERTEXT + 65
        if len(sealed) < size + 16:
            raise DoesNotOpen("too short")
        info = label(name) + str8(origin) + (b"" if self.kind == 1 else u8(self.kind))
        suite = b"HPKE" + u16(KEM_IDS[self.kind]) + u16(KDF_ID) + u16(AEAD_ID)
        shared = self.shared_secret(sealed[:size])
        context = (b"\0" + labeled_extract(suite, b"", b"psk_id_hash", b"")
                   + labeled_extract(suite, b"", b"info_hash", info))
        secret = labeled_extract(suite, shared, b"secret", b"")
        key = labeled_expand(suite, secret, b"key", context, 32)
        nonce = labeled_expand(suite, secret, b"base_nonce", context, 12)
        try:
            return AESGCM(key).decrypt(nonce, sealed[size:], associated)
        except InvalidTag as error:
            raise DoesNotOpen("the tag") from error


def open_wrap(auditor, origin, disclosure_public, sealed):
    """Return the private half of a disclosure key from its wrap for an auditor (SPEC 12.2, 12.4)."""
    if auditor.kind != disclosure_public[0]:
        raise DoesNotOpen("keys of two types")
    private = auditor.open("wrap", origin, disclosure_public, sealed)
    if SealingKey(disclosure_public[0], private).public != disclosure_public:
        raise DoesNotOpen("another key")
    return private


def open_tape(key, origin, shuffle, commitment, sealed):
    """Return the tape that is sealed to a disclosure key (SPEC 12.3)."""
    tape = key.open("disclosure", origin, u64(shuffle) + commitment, sealed)
    if not tape:
        raise DoesNotOpen("no tape")
    return tape
