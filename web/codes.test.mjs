// Tests of codes, headers, extension lists and entries that no vector of a whole
// file has. Their bytes are built here from docs/SPEC.md: node --test web/
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import * as house from "./house.mjs";
import { load } from "./verify.mjs";

const shuffled = load();
const { parts } = shuffled;
const { join, str8, blob16, u32 } = parts;
const u8 = (...n) => Uint8Array.of(...n);
const u16 = (n) => u8(n >> 8, n);
const u64 = (n) => join(u32(Math.floor(n / 2 ** 32)), u32(n % 2 ** 32));
const filled = (n, byte = 7) => new Uint8Array(n).fill(byte);
const DAEMON = { by: "daemon" }, OPERATOR = { by: "operator" };

// accepts parses an entry. refuses checks that it is malformed, or unknown.
const accepts = (...bytes) => parts.parseEntry(join(...bytes));
const refuses = (kind, what, ...bytes) => assert.throws(() => accepts(...bytes), (e) => e instanceof parts[kind], what);

// ------------------------------------------------------------- codes, 1.4, 15

test("the page knows the codes of SPEC section 15", () => {
  const spec = readFileSync(new URL("../docs/SPEC.md", import.meta.url), "utf8");
  const text = /<!-- codes: [^>]*-->([\s\S]*?)<!-- codes end -->/.exec(spec)[1].replace(/\s+/g, " ");
  const lists = {};
  for (const [, name, kind, codes] of text.matchAll(/- \*\*(\w+)\*\* \((open|closed), section [\d.]+\): (.*?)(?= - \*\*|$)/g)) {
    lists[name] = { open: kind === "open", names: {} };
    for (const [, code, word] of codes.matchAll(/(\d+) `(\w+)` (?!reserved: )/g)) lists[name].names[code] = word;
  }
  assert.ok(Object.keys(lists).length > 20);
  assert.deepEqual(parts.CODES, lists);
});

// Each returns an entry that is good except for the code, which is the one that it is given.
const PLACES = {
  purpose: (code) => house.deal({ shuffle: 2, first: 0, cards: 1, purpose: code }),
  reason: (code) => house.close({ shuffle: 2, outcome: 4, reason: code, tape: filled(9) }),
  latch: (code) => join(house.header(7, DAEMON), u8(6, code), u64(1)),
  alarm: (code) => join(house.header(7, DAEMON), u8(129, code), str8("why")),
  event: (code) => join(house.header(7, DAEMON), u8(code), filled(9)),
  entry: (code) => join(house.header(code, {}), filled(9)),
  genesis_extension: (code) => genesis({ extensions: [[code, filled(9)]] }),
  context_extension: (code) => commit({ extensions: [[code, filled(9)]] }),
  commit_extension: (code) => commit({}, { commitExtensions: [[code, filled(9)]] }),
  deal_extension: (code) => house.deal({ shuffle: 2, first: 0, cards: 1, extensions: [[code, filled(9)]] }),
  disclosure_extension: (code) => house.disclosure({ shuffle: 2, extensions: [[code, filled(9)]] }),
  reveal_extension: (code) => house.reveal({ shuffle: 2, places: [0], extensions: [[code, filled(9)]] }),
  close_extension: (code) => house.close({ shuffle: 2, tape: filled(9), extensions: [[code, filled(9)]] }),
};
const KEY = { name: house.ORIGIN, typed: join(u8(1), filled(32)) };
const genesis = (o) => house.genesis(KEY, o);
const commit = (context, o) => house.commit({ context: house.context({ origin: house.ORIGIN, ranges: [6], ...context }), commitment: filled(32), root: filled(32), ...o });

test("a code that is not known is critical, or passed over", () => {
  for (const [list, at] of Object.entries(PLACES)) {
    const known = parts.CODES[list].names;
    for (const code of [0, 1, 77, 127, 128, 200, 240, 255]) {
      if (code === 0 && list === "reason") continue; // 0 means no reason, which void does not allow
      if (Object.hasOwn(known, code)) continue;
      if (code === 0) refuses("Malformed", `${list} 0`, at(0));
      else if (code < 128) refuses("Unknown", `${list} ${code}`, at(code));
      else assert.deepEqual(accepts(at(code)).passed, [{ list, code }], `${list} ${code}`);
    }
  }
  for (const list of Object.keys(parts.CODES)) assert.equal(Object.hasOwn(PLACES, list), parts.CODES[list].open, `${list}: each open list has its place here`);
});

test("a code of a closed list is always critical", () => {
  const disclosed = (code) => commit({ disclosure: code }), deals = (code) => genesis({ deals: code, policy: "quorum none\n" });
  const subject = (code) => join(house.header(6, OPERATOR), u8(code), blob16(KEY.typed));
  const extent = (code) => house.takeover({ shuffle: 2, extent: code });
  const outcome = (code) => house.close({ shuffle: 2, outcome: code, tape: filled(9) });
  for (const at of [disclosed, deals, subject, extent, outcome, (code) => join(house.header(7, DAEMON), u8(4, code), str8("why"))]) {
    refuses("Malformed", `${at} 0`, at(0));
    for (const code of [99, 128, 200, 255]) refuses("Unknown", `${at} ${code}`, at(code));
  }
});

test("what is passed over has at most 1,024 bytes", () => {
  const body = (n) => join(house.header(200, {}), filled(n)), event = (n) => join(house.header(7, DAEMON), u8(200), filled(n));
  const extension = (n) => house.close({ shuffle: 2, tape: filled(9), extensions: [[200, filled(n)]] });
  const revealed = (n) => house.reveal({ shuffle: 2, places: [0], extensions: [[200, filled(n)]] });
  for (const at of [body, event, extension, revealed]) {
    for (const n of [0, 1, 1024]) assert.equal(accepts(at(n)).passed.length, 1);
    refuses("Malformed", "1,025 bytes", at(1025));
  }
});

test("the codes of an extension list ascend, and each counts", () => {
  const close = (...extensions) => house.close({ shuffle: 2, tape: filled(9), extensions });
  assert.deepEqual(accepts(close([128, u8()], [129, u8(1)], [255, u8()])).passed.map((p) => p.code), [128, 129, 255]);
  for (const bad of [[[129, u8()], [128, u8()]], [[128, u8()], [128, u8()]]]) refuses("Malformed", "no order", close(...bad));
  refuses("Unknown", "a critical one comes first", close([100, u8()], [0, u8()]));
  const whole = close([128, filled(3)]);
  for (let n = whole.length - 7; n < whole.length; n++) refuses("Malformed", "cut short", whole.subarray(0, n));
  refuses("Malformed", "a byte more", whole, u8(0));
});

// ------------------------------------------------------------- headers, 5

test("a header has an identity and a credential, both reserved or neither", () => {
  const header = (by, credential) => join(house.header(200, { by, credential }));
  const { identity, credential } = accepts(header("casino-1", "tok.7"));
  assert.deepEqual([identity, credential], ["casino-1", "tok.7"]);
  for (const word of ["daemon", "operator"]) {
    accepts(header(word, word));
    refuses("Malformed", word, header(word, "tok.7"));
    refuses("Malformed", word, header("casino-1", word));
  }
  refuses("Malformed", "both words", header("daemon", "operator"));
  for (const name of ["", "-a", "a b", "a".repeat(65)]) {
    refuses("Malformed", name, header(name, "tok.7"));
    refuses("Malformed", name, header("casino-1", name));
  }
});

// ------------------------------------------- a genesis, keys and events, 5.1 to 5.8

const admin = (name, byte) => ({ name, typed: join(u8(1), filled(32, byte)) });

test("a genesis has a revision, administrators, two persons and a delay", () => {
  const g = accepts(genesis({ administrators: [admin("ann", 1), admin("bob", 2)], twoPersons: [8, 9, 12], delay: 3600 })).genesis;
  assert.deepEqual([g.revision, g.administrators.map((a) => a.name), g.two_persons, g.delay, g.extensions], [1, ["ann", "bob"], [8, 9, 12], 3600, []]);
  const many = (n) => Array.from({ length: n }, (_, i) => admin(`a${String(i).padStart(2, "0")}`, i));
  accepts(genesis({ administrators: many(16) }));
  for (const [kind, o] of [
    ["Malformed", { revision: 0 }], ["Unknown", { revision: 2 }], ["Unknown", { revision: 256 }], ["Malformed", { administrators: many(17) }],
    ["Malformed", { administrators: [admin("bob", 1), admin("ann", 2)] }], ["Malformed", { administrators: [admin("ann", 1), admin("ann", 2)] }],
    ["Malformed", { administrators: [admin("ann", 1), admin("bob", 1)] }], ["Malformed", { administrators: [admin("", 1)] }],
    ["Unknown", { administrators: [{ name: "ann", typed: join(u8(2), filled(32)) }] }], ["Malformed", { administrators: [{ name: "ann", typed: join(u8(1), filled(31)) }] }],
    ["Malformed", { twoPersons: [9, 8] }], ["Malformed", { twoPersons: [8, 8] }], ["Malformed", { twoPersons: [0] }], ["Unknown", { twoPersons: [14] }], ["Unknown", { twoPersons: [8, 127] }],
  ]) refuses(kind, JSON.stringify(o), genesis(o));
});

const KEYS = (...bytes) => join(house.header(6, OPERATOR), ...bytes);

test("keys: administrators, and the acts of two persons", () => {
  const key = blob16(KEY.typed);
  for (const [change, more] of [[1, key], [2, u8()], [3, key]]) {
    assert.equal(accepts(KEYS(u8(6, change), str8("ann"), more)).key.administrator, "ann");
    refuses("Malformed", `change ${change}`, KEYS(u8(6, change), str8("ann"), change === 2 ? key : u8()));
  }
  refuses("Malformed", "change 0", KEYS(u8(6, 0), str8("ann"), key));
  refuses("Unknown", "change 4", KEYS(u8(6, 4), str8("ann"), key));
  const two = accepts(KEYS(u8(7, 2, 8, 10), u32(60))).key;
  assert.deepEqual([two.acts, two.delay], [[8, 10], 60]);
  accepts(KEYS(u8(7, 0), u32(0)));
  refuses("Malformed", "no order", KEYS(u8(7, 2, 10, 8), u32(60)));
  refuses("Malformed", "cut short", KEYS(u8(7, 1, 8)));
  for (const subject of [1, 2, 3]) accepts(KEYS(u8(5, subject), filled(32), u64(1)));
  refuses("Malformed", "retired subject 0", KEYS(u8(5, 0), filled(32), u64(1)));
  for (const subject of [4, 6, 7, 8, 200]) refuses("Unknown", `retired subject ${subject}`, KEYS(u8(5, subject), filled(32), u64(1)));
});

const EVENT = (...bytes) => join(house.header(7, DAEMON), ...bytes);

test("events: a start, an adopted head, the head of the record of access", () => {
  const start = (kernel, vdso) => EVENT(u8(1), filled(64), u8(1), str8("1.0.0"), str8(kernel), u8(vdso));
  assert.equal(accepts(start("6.1.0-arm64+(x)", 2)).event.kernel_release, "6.1.0-arm64+(x)");
  accepts(start("", 1));
  accepts(start("k".repeat(64), 0));
  for (const kernel of ["a b", "k".repeat(65), "a\u007f"]) refuses("Malformed", kernel, start(kernel, 1));
  for (const vdso of [3, 130]) refuses("Unknown", `vdso ${vdso}`, start("", vdso));
  const adopted = (size, byte, reason) => EVENT(u8(10), u64(9), filled(32), u64(size), filled(32, byte), str8(reason));
  for (const [size, byte] of [[0, 0], [8, 7], [8, 0]]) accepts(adopted(size, byte, "disk lost"));
  refuses("Malformed", "a root of nothing", adopted(0, 7, "disk lost"));
  refuses("Malformed", "no reason", adopted(8, 7, ""));
  assert.equal(accepts(EVENT(u8(130), u64(5), filled(32))).event.records, 5);
  refuses("Unknown", "an event that was struck or is reserved", EVENT(u8(9), filled(3)));
});

// ------------------------------------------- takeovers, credentials, acts, 5.9 to 5.11

test("takeovers", () => {
  const { time, identity, takeover } = accepts(house.takeover({ shuffle: 5, extent: 1, reason: "gone" }));
  assert.deepEqual([time, identity, takeover], [house.T, "casino-2", { shuffle: 5, extent: 1, reason: "gone" }]);
  for (const reason of ["", "r".repeat(201), "a\nb"]) refuses("Malformed", reason, house.takeover({ shuffle: 5, reason }));
});

test("credentials", () => {
  const created = ({ form = 1, role = 1, identity = "casino-1", tables = [], expires = 0 } = {}) => join(house.header(9, OPERATOR),
    u8(1), str8("token-1"), u8(form, role), str8(identity), u16(tables.length), ...tables.map(str8), u64(expires), filled(32));
  const many = (n) => Array.from({ length: n }, (_, i) => `t${String(i).padStart(3, "0")}`);
  const { credential, credential_entry: c } = accepts(created({ form: 2, role: 4, tables: ["B", "a"], expires: 9 }));
  assert.deepEqual([credential, c.credential, c.form, c.role, c.identity, c.tables, c.expires], ["operator", "token-1", 2, 4, "casino-1", ["B", "a"], 9]);
  for (const o of [{}, { role: 3 }, { tables: many(256) }, { identity: "daemon" }]) accepts(created(o));
  for (const [kind, o] of [["Malformed", { form: 0 }], ["Unknown", { form: 3 }], ["Malformed", { role: 0 }], ["Unknown", { role: 6 }], ["Malformed", { identity: "" }],
    ["Malformed", { tables: many(257) }], ["Malformed", { tables: ["a", "B"] }], ["Malformed", { tables: ["a", "a"] }], ["Malformed", { tables: [""] }], ["Malformed", { expires: 2 ** 53 }]])
    refuses(kind, JSON.stringify(o).slice(0, 80), created(o));
  const revoked = (reason) => join(house.header(9, OPERATOR), u8(2), str8("token-1"), str8(reason));
  accepts(revoked("lost"));
  refuses("Malformed", "no reason", revoked(""));
  for (const [kind, code] of [["Malformed", 0], ["Unknown", 3], ["Unknown", 200]]) refuses(kind, `kind ${code}`, house.header(9, OPERATOR), u8(code), str8("token-1"), str8("lost"));
});

test("acts", () => {
  const act = (signers, o = {}) => join(house.header(10, OPERATOR), u8(o.act ?? 6), filled(32), u64(o.previous ?? 0), u64(9), filled(32), u64(house.T),
    u8(o.count ?? signers.length), ...signers.map((name) => join(str8(name), filled(64))));
  const { act: a } = accepts(act(["ann", "bob"], { previous: 4 }));
  assert.deepEqual([a.act, a.previous, a.head_size, a.expires, a.signatures.map((s) => s.administrator)], [6, 4, 9, house.T, ["ann", "bob"]]);
  accepts(act(["ann"], { act: 12 }));
  for (const signers of [[], ["ann", "bob", "cat"], ["bob", "ann"], ["ann", "ann"], [""]]) refuses("Malformed", signers.join(), act(signers));
  refuses("Malformed", "a signature fewer", act(["ann"], { count: 2 }));
  refuses("Malformed", "act 0", act(["ann"], { act: 0 }));
  refuses("Unknown", "act 14", act(["ann"], { act: 14 }));
});

// The verifier of one file does not need these hashes. They are computed here by 5.10 and 5.11.
const HASHES = JSON.parse(readFileSync(new URL("../internal/audit/testdata/hashes.json", import.meta.url), "utf8"));
const bytes = (hex) => new Uint8Array(Buffer.from(hex, "hex"));
const hex = (b) => Buffer.from(b).toString("hex");
const { label, sha256 } = parts;

// some fails for an empty list of cases, because a test without cases would pass.
function some(list) {
  assert.ok(Array.isArray(list) && list.length > 0, "no cases");
  return list;
}

// apart returns the type, the identity (str8) and the body of an entry.
function apart(entry) {
  const identity = entry.subarray(10, 11 + entry[10]), credential = entry[10 + identity.length];
  return { type: entry[1], identity, body: entry.subarray(11 + identity.length + credential) };
}

test("hashes.json: digests of credentials, and of what an act approves", () => {
  for (const { name, fields: c, hash, digest } of some(HASHES.credentials)) {
    const row = join(str8(c.credential), u8(c.form, c.role), str8(c.identity), u16(c.tables?.length ?? 0), ...(c.tables ?? []).map(str8), u64(c.expires ?? 0));
    assert.equal(hex(sha256(label("credential"), row, bytes(hash))), digest, name);
  }
  for (const c of some(HASHES.approvals)) {
    const { type, identity, body } = apart(bytes(c.entry));
    assert.equal(hex(sha256(label("approved"), u8(type), identity, body)), c.digest, c.name);
  }
});

test("hashes.json: what administrators sign", async () => {
  for (const c of some(HASHES.acts)) {
    const entry = bytes(c.entry), [first] = parts.parseEntry(entry).act.signatures;
    const signed = join(label("act"), sha256(bytes(c.genesis_entry)), apart(entry).body.subarray(0, 1 + 32 + 8 + 8 + 32 + 8));
    assert.equal(hex(signed), c.signed, c.name);
    const key = bytes(c.key).subarray(1);
    assert.equal(parts.strongKey(key) && await parts.ed25519(key, first.signature, signed), c.good ?? false, c.name);
  }
});

test("hashes.json: requests to a co-dealer, states and records", async () => {
  for (const c of some(HASHES.asks)) {
    const key = await crypto.subtle.importKey("raw", bytes(c.tape), "HKDF", false, ["deriveBits"]);
    const info = { name: "HKDF", hash: "SHA-256", salt: bytes(c.commitment), info: label("ask-key") };
    assert.equal(hex(await crypto.subtle.deriveBits(info, key, 256)), c.seed, c.name);
    const runs = c.runs.map((r) => join(u16(r.cards), u8(r.purpose), str8(r.recipient ?? ""), u8(r.public ? 1 : 0), u16(r.round ?? 0)));
    const signed = join(label("ask"), u64(c.shuffle), bytes(c.commit_leaf), bytes(c.after), bytes(c.state), u16(c.first), u16(runs.length), ...runs);
    assert.equal(hex(signed), c.signed, c.name);
    assert.ok(await parts.ed25519(bytes(c.ask_key), bytes(c.signature), signed), c.name);
  }
  const utf8 = (s) => new TextEncoder().encode(s);
  for (const c of some(HASHES.states)) assert.equal(hex(sha256(label("state"), utf8(c.history))), c.state, c.name);
  for (const c of some(HASHES.records)) {
    const texts = [c.request_id, c.credential, c.method, c.path].map((s) => blob16(utf8(s)));
    assert.equal(hex(sha256(label("access"), bytes(c.before), u64(c.number), u64(c.time), ...texts)), c.hash, c.name);
  }
});

// --------------------------------------------------- receipts of these, 10.4

test("a receipt says who caused its entry, and what was passed over", async () => {
  const key = await house.newKey(house.ORIGIN);
  const entries = [house.genesis(key), house.start(), join(house.header(200, { by: "casino-9", credential: "tok" }), filled(3)), house.takeover({ shuffle: 1, extent: 1 })];
  const receipts = await house.receipts(house.ORIGIN, [key], entries, [2, 3]);
  const [later, takeover] = await Promise.all(receipts.map((r) => shuffled.verify(r, { vkey: key.vkey })));
  assert.deepEqual([later.verdict, later.entry], ["proved", { index: 2, type: "unknown(200)", time: "2026-09-21T14:13:20.000Z", identity: "casino-9", credential: "tok" }]);
  assert.deepEqual(later.passed_over, [{ list: "entry", code: 200, count: 1, first: 2 }]);
  assert.deepEqual([takeover.entry.type, takeover.id, takeover.passed_over], ["takeover", 1, undefined]);
});
