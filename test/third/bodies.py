"""The bodies of entries that are not about one shuffle: SPEC 5.1, 5.7, 5.8, 5.10, 5.11."""

import re

import codes
from errors import Malformed, Unknown
from fields import (ENTRY_SIGNING_SIZES, SIGNING_SIZES, acts_list, extensions, policy_text,
                    public_key, sealing_key)

KERNEL = re.compile(r"[\x21-\x7e]{0,64}")
MAX_PREDECESSOR = 16_384
WRAP_SIZES = {1: 113, 2: 1_201}


def genesis(reader, passed_over):
    """Read the body of a genesis (SPEC 5.1)."""
    body = {"revision": reader.u16("revision", low=1)}
    if body["revision"] != 1:
        raise Unknown("revision")
    body["origin"] = reader.origin("origin")
    body["production"] = reader.flag("production")
    body["signing_key"] = public_key(reader.blob16("signing key"), SIGNING_SIZES, "signing key")
    body["policy"] = policy_text(reader.blob16("witness policy"))
    body["auditors"] = []
    for _ in range(reader.u8("auditor keys", high=8)):
        auditor = sealing_key(reader.blob16("auditor key"), "auditor key")
        if auditor in body["auditors"]:
            raise Malformed("auditor keys")
        body["auditors"].append(auditor)
    body["deals"] = reader.u8("deals")
    codes.check("deals", body["deals"], "deals")
    if body["deals"] == 2 and not body["policy"]:
        raise Malformed("deals")
    body["mix_modes"] = reader.u8("mix modes")
    if body["mix_modes"] & ~15:
        raise Unknown("mix modes")
    body["disclosure"] = reader.u8("disclosure")
    codes.check("disclosure", body["disclosure"], "disclosure")
    body["default_close_by"] = reader.u32("default close-by", low=1)
    body["cap_on_close_by"] = reader.u32("cap on close-by")
    if body["default_close_by"] > body["cap_on_close_by"]:
        raise Malformed("default close-by")
    body["access"] = reader.u8("access")
    codes.check("access", body["access"], "access")
    body["predecessor"] = reader.blob16("predecessor")
    if len(body["predecessor"]) > MAX_PREDECESSOR:
        raise Malformed("predecessor")
    body["administrators"] = administrators(reader)
    body["two_persons"] = acts_list(reader)
    body["delay"] = reader.u32("delay")
    body.update(extensions(reader, "genesis_extension", passed_over, {}))
    return body


def administrators(reader):
    """Read the administrators: a u8 count (0 to 16), and of each a str8 name and a blob16 key."""
    listed = []
    for _ in range(reader.u8("administrators", high=16)):
        name = reader.name("administrator")
        if listed and name <= listed[-1]["name"]:
            raise Malformed("administrators")
        key_bytes = public_key(reader.blob16("administrator's key"), SIGNING_SIZES,
                               "administrator's key")
        if any(key_bytes == other["key"] for other in listed):
            raise Malformed("administrators")
        listed.append({"name": name, "key": key_bytes})
    return listed


def key(reader, _passed_over):
    """Read the body of a key entry (SPEC 5.7)."""
    subject = reader.u8("subject")
    codes.check("subject", subject, "subject")
    body = {"subject": subject}
    if subject == 1:
        body["key"] = public_key(reader.blob16("signing key"), ENTRY_SIGNING_SIZES, "signing key")
    elif subject == 2:
        body["key"] = sealing_key(reader.blob16("disclosure key"), "disclosure key")
        body["wraps"] = wraps(reader, WRAP_SIZES[body["key"][0]])
    elif subject == 3:
        body["key"] = sealing_key(reader.blob16("auditor key"), "auditor key")
    elif subject == 4:
        body["policy"] = policy_text(reader.blob16("witness policy"))
    elif subject == 5:
        body["retired_subject"] = reader.u8("retired subject", low=1)
        if body["retired_subject"] > 3:
            raise Unknown("retired subject")
        body["retired_key_id"] = reader.hash("retired key id")
        body["retired_from"] = reader.u64("retired from")
    elif subject == 6:
        body["change"] = reader.u8("change")
        codes.check("change", body["change"], "change")
        body["administrator"] = reader.name("administrator")
        if body["change"] != 2:
            body["key"] = public_key(reader.blob16("administrator's key"), SIGNING_SIZES,
                                     "administrator's key")
    elif subject == 7:
        body["acts"] = acts_list(reader)
        body["delay"] = reader.u32("delay")
    elif reader.flag("co_dealer"):
        body["every"] = reader.flag("every")
        body["co_dealer"] = reader.origin("co_dealer")
        body["key"] = public_key(reader.blob16("signing key"), SIGNING_SIZES, "signing key")
        body["policy"] = policy_text(reader.blob16("witness policy"))
    return body


def wraps(reader, size):
    """Read the wraps: a u8 count (1 to 32), and of each an auditor key's id and a wrapped private key."""
    listed = []
    for _ in range(reader.u8("wraps", low=1, high=32)):
        auditor = reader.hash("auditor key id")
        if listed and auditor <= listed[-1]["auditor_key_id"]:
            raise Malformed("wraps")
        wrapped = reader.blob16("wrapped key")
        if len(wrapped) != size:
            raise Malformed("wrapped key")
        listed.append({"auditor_key_id": auditor, "wrapped_key": wrapped})
    return listed


def event(reader, passed_over):
    """Read the body of an event (SPEC 5.8)."""
    kind = reader.u8("event")
    body = {"kind": kind}
    if not codes.check("event", kind, "event", passed_over):
        body["opaque"] = reader.take(len(reader.data) - reader.position, "event")
        if len(body["opaque"]) > 1_024:
            raise Malformed("event")
        return body
    name = codes.NAMES["event"][kind]
    if name == "instance_start":
        body["executable"] = reader.hash("executable")
        body["configuration"] = reader.hash("configuration")
        body["fips"] = reader.flag("FIPS state")
        body["software_version"] = reader.name("version")
        body["kernel_release"] = reader.text("kernel release", KERNEL)
        body["vdso"] = reader.u8("vDSO")
        codes.check("vdso", body["vdso"], "vDSO")
    elif name in ("table_open", "table_close"):
        body["table"] = reader.name("table")
    elif name in ("kill_set", "kill_clear"):
        body["scope"] = reader.u8("scope")
        codes.check("scope", body["scope"], "scope")
        if body["scope"] == 2:
            body["table"] = reader.name("table")
        elif body["scope"] == 3:
            body["deck_hash"] = reader.hash("deck hash")
        body["reason"] = reader.reason("reason")
    elif name == "latch_set":
        body["cause"] = reader.u8("latch")
        codes.check("latch", body["cause"], "latch", passed_over)
        body["instance"] = reader.u64("instance")
    elif name == "latch_clear":
        body["reason"] = reader.reason("reason")
    elif name == "head_adopted":
        body["adopted_size"] = reader.u64("adopted size")
        body["adopted_root"] = reader.hash("adopted root")
        body["lost_size"] = reader.u64("lost size")
        body["lost_root"] = reader.hash("lost root")
        if body["lost_size"] == 0 and body["lost_root"] != bytes(32):
            raise Malformed("lost root")
        body["reason"] = reader.reason("reason")
    elif name == "alarm":
        body["alarm"] = reader.u8("alarm")
        codes.check("alarm", body["alarm"], "alarm", passed_over)
        body["reason"] = reader.reason("reason")
    else:
        body["records"] = reader.u64("records")
        body["newest_record"] = reader.hash("newest record")
    return body


def credential(reader, _passed_over):
    """Read the body of a credential entry (SPEC 5.10)."""
    kind = reader.u8("credential")
    codes.check("credential_kind", kind, "credential")
    body = {"kind": kind, "credential": reader.name("credential")}
    if kind == 2:
        body["reason"] = reader.reason("reason")
        return body
    body["form"] = reader.u8("form")
    codes.check("credential_form", body["form"], "form")
    body["role"] = reader.u8("role")
    codes.check("role", body["role"], "role")
    body["identity"] = reader.name("identity")
    body["tables"] = []
    for _ in range(reader.u16("tables", high=256)):
        table = reader.name("table")
        if body["tables"] and table <= body["tables"][-1]:
            raise Malformed("tables")
        body["tables"].append(table)
    body["expires"] = reader.u64("expiry")
    body["digest"] = reader.hash("digest")
    return body


def act(reader, _passed_over):
    """Read the body of an act (SPEC 5.11). `signed_fields` are the bytes that the administrators
    sign, from the act to the expiry."""
    start = reader.position
    body = {"act": reader.u8("act")}
    codes.check("act", body["act"], "act")
    body["digest"] = reader.hash("digest")
    body["previous"] = reader.u64("previous act")
    body["head_size"] = reader.u64("size of the head")
    body["head_root"] = reader.hash("root of the head")
    body["expires"] = reader.u64("expiry")
    body["signed_fields"] = reader.data[start:reader.position]
    body["signatures"] = []
    for _ in range(reader.u8("signatures", low=1, high=2)):
        name = reader.name("administrator")
        if body["signatures"] and name <= body["signatures"][-1]["administrator"]:
            raise Malformed("signatures")
        body["signatures"].append({"administrator": name,
                                   "signature": reader.take(64, "signature")})
    return body
