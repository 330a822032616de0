"""Terms and tickets: SPEC 16."""

import decks
from errors import Malformed, Unknown
from hashes import hkdf, label, sha256
from draws import Keystream
from merkle import leaf_hash, root_from_path, root_of
from notes import later_version
from wire import Reader, decimal, from_base64, is_name, u64, u8

WHEEL, PAY_TABLE, TICKET_LIST = 1, 2, 3
MAX_DOCUMENT = 65_536
MAX_PROOF = 2_048
MAX_TOTAL = MAX_TICKETS = 2**30


def document_hash(kind, document):
    """Return the hash of a document (SPEC 16.1)."""
    return sha256(label("terms"), u8(kind), document)


def read_wheel(document):
    """Return the labels of a wheel, each {label, weight}, and the total of their weights."""
    if not 1 <= len(document) <= MAX_DOCUMENT:
        raise Malformed("wheel")
    reader = Reader(document)
    labels, seen, total = [], set(), 0
    for _ in range(reader.u16("wheel", low=1)):
        try:
            name = reader.str8("label").decode("utf-8")
        except UnicodeDecodeError as error:
            raise Malformed("label") from error
        decks.check_name(name)
        weight = reader.u32("weight", low=1)
        total += weight
        if name in seen or total > MAX_TOTAL:
            raise Malformed("wheel")
        seen.add(name)
        labels.append({"label": name, "weight": weight})
    reader.end("wheel")
    return labels, total


def label_of(labels, shown):
    """Return the label for the value that a draw shows."""
    total = 0
    for item in labels:
        total += item["weight"]
        if total >= shown:
            return item["label"]
    return None


def read_pay_table(document):
    """Return the text of a pay table."""
    if not 1 <= len(document) <= MAX_DOCUMENT:
        raise Malformed("pay table")
    try:
        text = document.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed("pay table") from error
    if any(decks.forbidden(c) and c != "\n" for c in text):
        raise Malformed("pay table")
    return text


def ticket_leaf(index, salt, line):
    """Return the leaf hash of a ticket (SPEC 16.2)."""
    return leaf_hash(label("ticket") + u64(index) + salt + line.encode())


def ticket_salts(secret, count):
    """Return the salts of a list of tickets."""
    stream = Keystream(hkdf(b"", secret, label("ticket-salt"), 32))
    return [stream.read(16) for _ in range(count)]


def list_root(secret, lines):
    """Return salts, leaves and root of a list of tickets."""
    salts = ticket_salts(secret, len(lines))
    leaves = [ticket_leaf(i, salt, line) for i, (salt, line) in enumerate(zip(salts, lines))]
    return salts, leaves, root_of(leaves)


def judge_proof(text):
    """Judge the proof of a ticket (SPEC 16.3): ok, or root if it leads to another root than it names."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_PROOF:
        raise Malformed("proof of a ticket")
    if later_version(text, "shuffled/v", "/ticket\n"):
        raise Unknown("proof of a later version")
    lines = text.split("\n")
    if len(lines) < 7 or lines[-1] or lines[0] != "shuffled/v1/ticket":
        raise Malformed("proof of a ticket")
    fields = []
    for line, name in zip(lines[1:6], ("count", "root", "number", "line", "salt")):
        if not line.startswith(name + " "):
            raise Malformed("proof of a ticket")
        fields.append(line[len(name) + 1:])
    count = decimal(fields[0], 2, MAX_TICKETS, "count")
    root = from_base64(fields[1], "root", 32)
    number = decimal(fields[2], 1, count, "number")
    if not is_name(fields[3]):
        raise Malformed("line")
    salt = from_base64(fields[4], "salt", 16)
    path = [from_base64(line, "path", 32) for line in lines[6:-1]]
    leaf = ticket_leaf(number - 1, salt, fields[3])
    return "ok" if root_from_path(leaf, number - 1, count, path) == root else "root"
