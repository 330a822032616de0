"""The verification of a file: SPEC 10. The verdict is JSON (10.4)."""

import sys

import levels
import steps
import steps_cards
import steps_others
import verdict
from errors import Malformed, StepFailed, Unknown
from notes import MAX_RECEIPT, Receipt, later_version
from transcript import Transcript
from trust import KeyChain, Trust

TRANSCRIPT_STEPS = [
    ("entries", steps.entries), ("signature", steps.signature), ("inclusion", steps.inclusion),
    ("witnesses", steps.witnesses), ("origin", steps.origin), ("slots", steps.slots),
    ("legality", steps.legality), ("beacon", steps.beacon), ("deck", steps_cards.deck),
    ("terms", steps_cards.terms), ("openings", steps_cards.openings),
    ("asked", steps_others.asked), ("tape", steps_cards.tape), ("order", steps_cards.order),
    ("cards", steps_cards.cards), ("co_dealer", steps_others.co_dealer),
    ("statements", steps_others.statements)]


class Case:
    """A transcript, with what is trusted and what the steps find."""

    def __init__(self, file, trust):
        self.file, self.trust = file, trust
        self.results = {}
        self.held, self.values, self.end_at = [], None, None
        self.labels, self.pay_table, self.stated = None, None, None
        self.requests, self.state, self.shuffle = [], None, None
        self.genesis, self.commit, self.entries, self.order = None, None, [], None

    def check_beacon(self, _round):
        """Return `not checked`, because this verifier has no BLS."""
        return steps.NOT_CHECKED

    @property
    def context(self):
        """The commit's context."""
        return self.commit.body["context"]

    @property
    def checkpoints(self):
        """The checkpoints that trusted keys must sign: the file's, and that of `witnessed`."""
        witnessed = [self.file.witnessed.checkpoint] if self.file.witnessed else []
        return [self.file.checkpoint] + witnessed

    def read_played(self):
        """Find the mix, the body that discloses the tape, and the co-dealer's values by place."""
        self.mix = next((e for _, e in self.played if e.kind == "mix"), None)
        self.last_body = None
        for _, entry in self.played:
            if entry.kind == "disclosure" or (entry.kind == "close"
                                              and entry.body["outcome"] != 3):
                self.last_body = entry.body
        self.tape_disclosed = self.last_body is not None and self.last_body["form"] != 0
        self.by_place = {}
        for _, entry in self.played:
            if entry.kind == "deal" and "blind" in entry.body:
                places = steps_others.opened_places(entry.body)
                self.by_place.update(zip(places, entry.body["blind"]["values"]))


def verify_transcript(raw, trust):
    """Return the verdict of a transcript."""
    case = None
    try:
        transcript = Transcript(raw)
        case = Case(transcript, trust)
        transcript.read_texts()
        case.results["format"] = steps.OK
        for name, step in TRANSCRIPT_STEPS:
            case.results[name] = step(case)
            if name == "entries":
                case.read_played()
    except Malformed as error:
        return verdict.failed("transcript", "format", error, {})
    except Unknown as error:
        return verdict.cannot_judge("transcript", error, case)
    except StepFailed as error:
        return verdict.failed("transcript", error.step, error.detail, case.results)
    return levels.transcript(case)


def verify_receipt(raw, trust):
    """Return the verdict of a receipt alone."""
    results = {}
    try:
        try:
            receipt = Receipt(raw.decode("utf-8"))
        except UnicodeDecodeError as error:
            head = raw[:64].decode("latin-1")
            if len(raw) <= MAX_RECEIPT and later_version(head, "c2sp.org/tlog-proof@v", "\n"):
                raise Unknown("a later version") from error
            raise Malformed("UTF-8") from error
        results["format"] = steps.OK
        entry = steps.parse(receipt)
        steps.need((entry.kind == "genesis") == (receipt.index == 0), "entries", "genesis")
        results["entries"] = steps.OK
        results["signature"] = receipt_signature(receipt, entry, trust)
        steps.need(receipt.included(), "inclusion", "proof")
        results["inclusion"] = steps.OK
        policy, checkpoint = trust.policy, receipt.checkpoint
        results["witnesses"] = steps.NOT_CHECKED
        if policy is not None and policy.quorum != "none":
            if policy.complete(checkpoint) is None:
                if policy.cannot_judge(checkpoint):
                    raise Unknown("a witness key of a later type decides")
                raise StepFailed("witnesses", "too few")
            results["witnesses"] = steps.OK
        receipt_origin(receipt, entry, trust, results)
    except Malformed as error:
        return verdict.failed("receipt", "format", error, {})
    except Unknown as error:
        return verdict.cannot_judge("receipt", error, None)
    except StepFailed as error:
        return verdict.failed("receipt", error.step, error.detail, results)
    return levels.receipt(receipt, entry, trust, results)


def receipt_signature(receipt, entry, trust):
    """Step signature of a receipt. Without a trusted key only a genesis is checked, because it has a key."""
    trusted = list(trust.pinned)
    if not trusted and entry.kind != "genesis":
        return steps.NOT_CHECKED
    key = entry.body["signing_key"] if entry.kind == "genesis" else None
    chain = KeyChain(receipt.checkpoint.origin, key, brought(receipt, entry), trusted,
                     entry.body["origin"] if key else None)
    if not trusted:
        chain.trusted = [chain.first]
    wrong = chain.check(not trusted)
    steps.need(wrong is None, "signature", wrong)
    steps.need(chain.signed(receipt.checkpoint), "signature", "not signed by a trusted key")
    return steps.OK


def brought(receipt, entry):
    """Return the receipt's entry for KeyChain, if it is of a signing key and the last of its checkpoint."""
    if entry.kind == "key" and entry.body["subject"] == 1 \
            and receipt.checkpoint.size == receipt.index + 1:
        return [(receipt.index, entry.body["key"], receipt.checkpoint)]
    return []


def receipt_origin(receipt, entry, trust, results):
    """Steps origin, of a genesis or commit, and slots, of a commit."""
    results["origin"] = results["slots"] = steps.NOT_CHECKED
    if entry.kind == "genesis":
        steps.need(entry.body["origin"] == receipt.checkpoint.origin, "origin", "name")
        results["origin"] = steps.OK
    if entry.kind == "commit":
        context = entry.body["context"]
        steps.need(context["origin"] == receipt.checkpoint.origin, "origin", "name")
        results["origin"] = steps.OK
        case = Case(None, trust)
        case.commit = entry
        results["slots"] = steps.slots(case)


def verify(raw, trusted):
    """Return the verdict of a file, with what is trusted as the vectors write it."""
    try:
        trust = Trust(**trusted)
    except (Malformed, Unknown) as error:
        return {"verdict": "cannot judge", "steps": [], "production": False,
                "unknown": f"what is trusted: {error}"}
    if raw.startswith(b"{"):
        return verify_transcript(raw, trust)
    if raw.startswith(b"c2sp.org/tlog-proof@"):
        return verify_receipt(raw, trust)
    return {"verdict": "failed", "failed": "format", "production": False,
            "steps": [{"name": "format", "result": "failed", "detail": "neither"}]}


sys.setrecursionlimit(10_000)
