"""The codes of SPEC 15: the names of each list, and the lists that are open."""

from errors import Malformed, Unknown

OPEN = {"entry", "purpose", "reason", "event", "latch", "alarm", "genesis_extension",
        "context_extension", "commit_extension", "deal_extension", "close_extension",
        "reveal_extension", "disclosure_extension"}

NAMES = {
    "entry": {1: "genesis", 2: "commit", 3: "mix", 4: "deal", 5: "close", 6: "key", 7: "event",
              8: "takeover", 9: "credential", 10: "act", 11: "reveal", 12: "disclosure"},
    "source": {1: "slot", 2: "beacon", 3: "cut", 4: "co_dealer"},
    "purpose": {1: "seat", 2: "board", 3: "burn", 4: "discard", 5: "rabbit", 6: "order"},
    "outcome": {1: "completed", 2: "ended_early", 3: "continued", 4: "void", 5: "expired"},
    "reason": {1: "misdeal", 2: "exposed_card", 3: "foul_deck", 4: "game_cancelled",
               5: "operator_error", 6: "system_fault", 7: "player_dispute", 8: "mix_failed",
               9: "regulator", 10: "tape_lost", 11: "co_dealer"},
    "form": {0: "none", 1: "tape", 2: "sealed"},
    "disclosure": {1: "public", 2: "auditor"},
    "deals": {1: "signed", 2: "cosigned"},
    "access": {1: "public", 2: "token"},
    "subject": {1: "signing", 2: "disclosure", 3: "auditor", 4: "policy", 5: "retirement",
                6: "administrator", 7: "two_persons", 8: "co_dealer"},
    "event": {1: "instance_start", 2: "table_open", 3: "table_close", 4: "kill_set",
              5: "kill_clear", 6: "latch_set", 7: "latch_clear", 10: "head_adopted",
              129: "alarm", 130: "access_head"},
    "vdso": {0: "not_known", 1: "no", 2: "yes"},
    "scope": {1: "ledger", 2: "table", 3: "deck"},
    "latch": {1: "repetition", 2: "proportion", 3: "short_read", 4: "read_error", 5: "slow",
              6: "replaced", 7: "startup", 8: "tape_exhausted", 9: "foul_deck", 10: "operator",
              11: "statistics"},
    "alarm": {129: "mark_adopted", 130: "signing_resumed", 131: "clock_step", 132: "witnesses",
              133: "statistics"},
    "extent": {1: "close", 2: "play"},
    "credential_kind": {1: "created", 2: "revoked"},
    "credential_form": {1: "token", 2: "certificate"},
    "role": {1: "dealer", 2: "auditor", 3: "admin", 4: "regulator", 5: "blind"},
    "act": {1: "policy", 2: "auditor", 3: "signing", 4: "retirement", 5: "adopt_head",
            6: "latch_clear", 7: "kill_clear", 8: "administrator", 9: "admin_credential",
            10: "takeover", 11: "two_persons", 12: "cancel", 13: "co_dealer"},
    "change": {1: "add", 2: "remove", 3: "replace"},
    "terms": {1: "wheel", 2: "pay_table", 3: "ticket_list"},
    "genesis_extension": {},
    "context_extension": {1: "terms", 2: "for_ledger"},
    "commit_extension": {1: "ask_key"},
    "deal_extension": {1: "asked", 2: "blind"},
    "close_extension": {1: "blind", 2: "follows"},
    "reveal_extension": {},
    "disclosure_extension": {},
}


def check(code_list, code, field, passed_over=None):
    """Check a code (SPEC 1.4). Return True if it is known, and False if it is passed over."""
    names = NAMES[code_list]
    if code in names:
        return True
    if code == 0:
        raise Malformed(field)
    if code_list in OPEN and code >= 128:
        if passed_over is not None:
            passed_over.append((code_list, code))
        return False
    raise Unknown(f"{field}: {code_list} {code}")


def name(code_list, code):
    """Return the name of a code, or unknown(N) for one that was passed over."""
    return NAMES[code_list].get(code, f"unknown({code})")
