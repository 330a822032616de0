// The entries that belong to no shuffle: genesis, keys, events, credentials and acts (section 5).
import { ascii, equal } from "./bytes.ts";
import { CODES, COSIGNED, MAX_ADMINISTRATORS, REVISION, codeOf, nameOf } from "./codes.ts";
import { Malformed, Unknown } from "./errors.ts";
import { ADDED, ascending, ledgerKey, nextName, policyText, reason, sealingKey, signingKey, table } from "./fields.ts";
import { KERNEL, NAME, ORIGIN, type Reader } from "./reader.ts";
import type { Act, Administrator, Bytes, Genesis, KeyEntry } from "./types.ts";

export function parseGenesis(r: Reader): Genesis {
  const revision = r.u16("revision");
  if (revision === 0) throw new Malformed("revision: 0");
  if (revision > REVISION) throw new Unknown(`revision ${revision} of the rules`);
  const auditors: Bytes[] = [];
  const g = {
    revision,
    origin: r.text("origin", ORIGIN),
    production: r.flag("production"),
    signing_key: signingKey(r, "signing key"),
    policy: policyText(r),
    auditors,
  };
  const count = r.u8("auditor keys");
  if (count > 8) throw new Malformed("auditor keys: more than 8");
  for (let i = 0; i < count; i++) {
    const key = sealingKey(r, "auditor key");
    if (auditors.some((k) => equal(k, key))) throw new Malformed("auditor keys: a key twice");
    auditors.push(key);
  }
  const deals = r.code("deals");
  if (deals === COSIGNED && g.policy === "") throw new Malformed("deals: cosigned, without a policy");
  const mix_modes = r.u8("mix modes");
  if (mix_modes >> Object.keys(CODES.source.names).length !== 0) throw new Unknown(`mix modes ${mix_modes}`);
  const disclosure = r.code("disclosure");
  const default_close_by = r.u32("default close-by");
  const cap_on_close_by = r.u32("cap on close-by");
  if (default_close_by < 1 || default_close_by > cap_on_close_by)
    throw new Malformed("default close-by: not from 1 to the cap");
  return {
    ...g, deals, mix_modes, disclosure, default_close_by, cap_on_close_by,
    access: r.code("access"),
    predecessor: r.blob("predecessor", 0, 16384),
    administrators: parseAdministrators(r),
    two_persons: ascending(r, "act", "two persons"),
    delay: r.u32("delay"),
    extensions: r.extensions("genesis_extension"),
  };
}

function parseAdministrators(r: Reader): Administrator[] {
  const out: Administrator[] = [], count = r.u8("administrators");
  if (count > MAX_ADMINISTRATORS) throw new Malformed("administrators: more than 16");
  for (let i = 0; i < count; i++) {
    const name = nextName(r, "administrator", out.at(-1)?.name), key = signingKey(r, "administrator key");
    if (out.some((a) => equal(a.key, key))) throw new Malformed("administrators: a key twice");
    out.push({ name, key });
  }
  return out;
}

// RETIRED has the subjects whose keys a key entry can retire (5.7).
const RETIRED = ["signing", "disclosure", "auditor"].map((name) => codeOf("subject", name));

const SUBJECTS: Record<string, (r: Reader) => object> = {
  signing: (r) => ({ key: ledgerKey(r, "signing key") }),
  disclosure(r: Reader) {
    const key = sealingKey(r, "disclosure key");
    return { key, wraps: parseWraps(r, ADDED[key[0]!]! + 32) };
  },
  auditor: (r) => ({ key: sealingKey(r, "auditor key") }),
  policy: (r) => ({ policy: policyText(r) }),
  retirement(r: Reader) {
    const subject = r.code("subject", "retired subject");
    if (!RETIRED.includes(subject)) throw new Unknown(`retired subject ${subject}`);
    return { retired_subject: subject, retired_key_id: r.hash("retired key"), retired_from: r.u64("retired from") };
  },
  administrator(r: Reader) {
    const change = r.code("change"), administrator = r.text("administrator", NAME);
    return nameOf("change", change) === "remove" ? { change, administrator } : { change, administrator, key: signingKey(r, "administrator key") };
  },
  two_persons: (r) => ({ acts: ascending(r, "act", "two persons"), delay: r.u32("delay") }),
  co_dealer: (r) => !r.flag("co-dealer") ? {} : { every: r.flag("every commit"), co_dealer: r.text("co-dealer", ORIGIN),
    key: signingKey(r, "co-dealer's key"), policy: policyText(r) },
};

export function parseKey(r: Reader): KeyEntry {
  const subject = r.code("subject");
  return { subject, ...SUBJECTS[nameOf("subject", subject)!]!(r) };
}

interface Wrap { auditor_key_id: Bytes; wrapped_key: Bytes }

function parseWraps(r: Reader, length: number): Wrap[] {
  const count = r.u8("wraps");
  if (count < 1 || count > 32) throw new Malformed(`wraps: ${count}`);
  const wraps: Wrap[] = [];
  for (let i = 0; i < count; i++) {
    const id = r.hash("auditor key id");
    if (i > 0 && ascii(wraps[i - 1]!.auditor_key_id) >= ascii(id)) throw new Malformed("wraps: ids do not ascend");
    wraps.push({ auditor_key_id: id, wrapped_key: r.blob("wrapped key", length, length) });
  }
  return wraps;
}

function killSwitch(r: Reader): object {
  const scope = r.code("scope"), what: { scope: number; table?: string; deck_hash?: Bytes } = { scope };
  if (nameOf("scope", scope) === "table") what.table = r.text("table", NAME);
  if (nameOf("scope", scope) === "deck") what.deck_hash = r.hash("deck hash");
  return { ...what, ...reason(r) };
}

const EVENTS: Record<string, (r: Reader) => object> = {
  instance_start: (r) => ({ executable: r.hash("executable"), configuration: r.hash("configuration"), fips: r.flag("FIPS state"),
    software_version: r.text("version", NAME), kernel_release: r.text("kernel release", KERNEL), vdso: r.code("vdso") }),
  table_open: table,
  table_close: table,
  kill_set: killSwitch,
  kill_clear: killSwitch,
  latch_set: (r) => ({ cause: r.code("latch"), instance: r.u64("instance") }),
  latch_clear: reason,
  head_adopted(r: Reader) {
    const e = { adopted_size: r.u64("adopted head"), adopted_root: r.hash("adopted head"), lost_size: r.u64("head before"), lost_root: r.hash("head before") };
    if (e.lost_size === 0 && e.lost_root.some((b) => b !== 0)) throw new Malformed("head before: a root of nothing");
    return { ...e, ...reason(r) };
  },
  alarm: (r) => ({ alarm: r.code("alarm"), ...reason(r) }),
  access_head: (r) => ({ records: r.u64("records"), newest_record: r.hash("newest record") }),
};

export function parseEvent(r: Reader): { kind: number } {
  const kind = r.code("event"), name = nameOf("event", kind);
  if (name === undefined) return Object.assign({ kind }, { opaque: r.rest("event") });
  return { kind, ...EVENTS[name]!(r) };
}

export function parseCredential(r: Reader): { kind: number; credential: string } {
  const kind = r.code("credential_kind", "credential kind"), credential = r.text("credential", NAME);
  if (nameOf("credential_kind", kind) === "revoked") return { kind, credential, ...reason(r) };
  const c = { kind, credential, form: r.code("credential_form", "credential form"), role: r.code("role"), identity: r.text("identity", NAME) }, tables: string[] = [];
  const count = r.u16("tables");
  if (count > 256) throw new Malformed("tables: more than 256");
  for (let i = 0; i < count; i++) tables.push(nextName(r, "table", tables.at(-1)));
  return Object.assign(c, { tables, expires: r.u64("expiry"), digest: r.hash("digest") });
}

export function parseAct(r: Reader): Act {
  const a: Act = { act: r.code("act"), digest: r.hash("digest"), previous: r.u64("previous act"),
    head_size: r.u64("head size"), head_root: r.hash("head root"), expires: r.u64("expires"), signatures: [] };
  const count = r.u8("signatures");
  if (count < 1 || count > 2) throw new Malformed(`signatures: ${count}`);
  for (let i = 0; i < count; i++)
    a.signatures.push({ administrator: nextName(r, "administrator", a.signatures.at(-1)?.administrator), signature: r.take(64, "signature") });
  return a;
}
