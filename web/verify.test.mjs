// Tests of verify.html and verify.mjs on every published vector:
// node --test web/
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import * as house from "./house.mjs";
import { ORIGIN, deckOf, game, random } from "./house.mjs";
import { load } from "./verify.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const DATA = path.join(HERE, "..", "internal");
const HTML = readFileSync(path.join(HERE, "verify.html"), "utf8");
const shuffled = load();
const { parts } = shuffled;

const readJSON = (...name) => JSON.parse(readFileSync(path.join(DATA, ...name), "utf8"));
const bytes = (hex) => new Uint8Array(Buffer.from(hex, "hex"));
const hex = (b) => Buffer.from(b).toString("hex");
const utf8 = (text) => new TextEncoder().encode(text);

// some fails for an empty list of cases, because a test without cases would pass.
function some(list) {
  assert.ok(Array.isArray(list) && list.length > 0, "no cases");
  return list;
}

const SHUFFLE = readJSON("shuffle", "testdata", "shuffle.json");
const ENTRIES = readJSON("audit", "testdata", "entries.json");
const HASHES = readJSON("audit", "testdata", "hashes.json");
const RECEIPTS = readJSON("audit", "testdata", "receipts.json");
const LEGALITY = readJSON("audit", "testdata", "legality.json");
const TERMS = readJSON("terms", "testdata", "terms.json");
const GOLDEN = path.join(DATA, "..", "testdata", "v1"); // what version 1 wrote: test/golden fails without it
const TRANSCRIPTS = readJSON("audit", "testdata", "transcripts.json");

test("every published vector file is read here", () => {
  const files = (...name) => readdirSync(path.join(DATA, ...name, "testdata")).filter((f) => f !== "rapid").sort(); // rapid keeps failed runs of tests there
  assert.deepEqual(files("shuffle"), ["decks.txt", "shuffle.json"]);
  assert.deepEqual(files("audit"), ["entries.json", "faulty.json", "hashes.json", "ledgers.json", "legality.json", "receipts.json", "transcripts.json"]); // faulty and ledgers are of whole ledgers, and are not judged here
  assert.deepEqual(files("terms"), ["terms.json"]);
  assert.deepEqual(files("verify"), ["vectors"]);
});

// ------------------------------------------------------------ legality, 9

// ruleOf returns the rule that the entries of the last entry's shuffle break, without those of other shuffles.
function ruleOf(entries) {
  const last = entries.at(-1), bodyOf = (e) => e.mix ?? e.deal ?? e.reveal ?? e.takeover ?? e.close ?? e.disclosure;
  const id = last.commit ? entries.length - 1 : bodyOf(last)?.shuffle;
  if (!entries[id]?.commit) return null; // the last entry is of no shuffle
  const own = entries.map((entry, index) => ({ index, entry })).filter(({ index, entry }) => index === 0 || index === id || bodyOf(entry)?.shuffle === id);
  const commit = { index: id, entry: entries[id] };
  const s = { file: { receipts: own }, genesis: own[0], commit, context: commit.entry.commit.context, deals: own.filter(({ entry }) => entry.deal) };
  try {
    parts.stepLegality(s);
  } catch (e) {
    if (!(e instanceof parts.Fault)) throw e;
    return e.message.split(":")[0];
  }
  return "ok";
}

test("legality.json: what the entries of one shuffle show of themselves", () => {
  const entries = LEGALITY.entries.map((e) => { try { return parts.parseEntry(bytes(e)); } catch { return null; } });
  const alone = ["co_dealer", "reveal", "place", "places", "checkpoint", "form"], judged = {}; // the rules for which these entries suffice
  for (const c of some(LEGALITY.cases)) {
    const next = entries[c.next], got = ruleOf([...c.prefix, c.next].map((i) => entries[i]));
    const pin = c.name.startsWith("pin: "); // it needs a key entry, and no file of a shuffle has one
    if (got === null || c.rule !== "ok" && (pin || !alone.includes(c.about))) continue;
    const waits = next.deal?.final || next.reveal?.final; // it needs the close behind it
    assert.equal(got, c.rule === "ok" && waits ? "pair" : c.rule, `${c.about}: ${c.name}`);
    judged[`${c.about}/${c.rule}`] = 1 + (judged[`${c.about}/${c.rule}`] ?? 0);
  }
  assert.ok(judged["co_dealer/ok"] > 30 && judged["co_dealer/co_dealer"] > 50, JSON.stringify(judged));
});

// ------------------------------------------------------------------ the page

test("the page is one file that loads nothing, and its policy allows exactly its own blocks", () => {
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(HTML)[1];
  const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const scripts = [...HTML.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)];
  const styles = [...HTML.matchAll(/<style([^>]*)>([\s\S]*?)<\/style>/g)];
  assert.deepEqual(scripts.map((m) => m[1]), [' id="verifier"', ' id="page"']);
  assert.equal(styles.length, 1);
  assert.equal(policy, `default-src 'none'; connect-src 'self' https: http://localhost:* http://127.0.0.1:*; img-src data:; script-src ${scripts.map((m) => hash(m[2])).join(" ")}; ` +
    `style-src ${hash(styles[0][2])}; base-uri 'none'; form-action 'none'`);
  const markup = HTML.replace(scripts[0][2], "").replace(scripts[1][2], "").replace(styles[0][2], "")
    .replace(/<link rel="icon" href="data:image\/svg\+xml,[^"<>]*">/, "");
  assert.doesNotMatch(markup, /\s(?:on[a-z]+|style|src|href|srcdoc|action)\s*=/i);
  assert.doesNotMatch(HTML, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|XMLHttpRequest|WebSocket|EventSource|sendBeacon|\bimport\(|url\(|@import|sessionStorage|indexedDB|\.cookie/);
  assert.deepEqual(HTML.match(/\blocalStorage\b.*/g).map((use) => use.replace(/\(.*/, "")), ["localStorage.setItem", "localStorage.removeItem", "localStorage.getItem"],
    "one key is kept, when it is asked for");
  assert.equal(HTML.match(/\bfetch\b/g).length, 1, "one place asks the network, for the shuffle that a link names");
  assert.doesNotMatch(scripts[0][2], /\bfetch\b/);
  // `window` alone is allowed, because a loop over the tables of a curve has a variable of that name.
  assert.doesNotMatch(scripts[0][2], /\b(?:document|navigator|localStorage|location)\b|\bwindow[.[]\w/, "the verifier looks at the page");
});

// ------------------------------------------------------- draws, 2 to 4

test("shuffle.json: tapes", () => {
  for (const c of some(SHUFFLE.runs)) {
    const context = c.ranges ? { kind: 2, ranges: c.ranges, end_at: { form: 0 } }
      : { kind: 1, n: c.cards, m: c.take, end_at: c.end_hi ? { form: 2, lo: c.end_lo, hi: c.end_hi } : { form: 0 } };
    const ks = parts.ranges(context), tape = bytes(c.tape);
    assert.equal(parts.tapeLength(ks), c.tape_len, c.name);
    if (c.error === "tape_length") { assert.notEqual(tape.length, c.tape_len, c.name); continue; }
    assert.equal(tape.length, c.tape_len, c.name);
    const again = parts.recompute(context, tape);
    if (c.error === "tape_exhausted") { assert.equal(again, null, c.name); continue; }
    assert.equal(c.error, undefined, c.name);
    assert.deepEqual(parts.draw(tape, ks), c.draws, c.name);
    assert.deepEqual(again.values, c.values, c.name);
    assert.equal(again.endAt, c.end_at, c.name);
  }
});

test("shuffle.json: mixes and shifts", async () => {
  for (const c of some(SHUFFLE.mixes)) {
    assert.deepEqual(await parts.mixedPlaces(bytes(c.seed), c.positions, 0), c.p);
    assert.deepEqual(await parts.mixedPlaces(bytes(c.seed), c.positions, c.cut), c.p_cut);
  }
  for (const c of some(SHUFFLE.shifts)) assert.deepEqual(await shifted(c.seed, c.ranges, c.values), c.shifted);
});

test("shuffle.json: numbers", () => {
  for (const c of some(SHUFFLE.numbers)) assert.deepEqual(parts.numbers(c.draws), c.numbers, c.name);
});

async function shifted(seed, ranges, values) {
  const by = await parts.shifts(bytes(seed), ranges);
  return values.map((v, i) => 1 + (v - 1 + by[i]) % ranges[i]);
}

test("decks.txt: the published decks", () => {
  const deck = (ranks, suits) => suits.split(" ").flatMap((s) => ranks.split(" ").map((r) => r + s));
  const standard = deck("A 2 3 4 5 6 7 8 9 T J Q K", "s h d c");
  const decks = new Map([
    ["standard-52", standard],
    ["standard-54", [...standard, "Jr", "Jb"]],
    ["short-36", deck("A 6 7 8 9 T J Q K", "s h d c")],
    ["pinochle-48", [1, 2].flatMap(() => deck("A 9 T J Q K", "s h d c"))],
    ["spanish-40", deck("1 2 3 4 5 6 7 S C R", "o b e c")],
  ]);
  for (let n = 1; n <= 16; n++) decks.set(`shoe-${n}`, Array.from({ length: n }, () => standard).flat());
  const lines = readFileSync(path.join(DATA, "shuffle", "testdata", "decks.txt"), "utf8").split("\n").filter((l) => l && !l.startsWith("#"));
  assert.equal(some(lines).length, decks.size);
  for (const line of lines) {
    const [name, count, hash] = line.split(" ");
    assert.equal(decks.get(name)?.length, Number(count), name);
    assert.equal(hex(parts.deckHash(decks.get(name))), hash, name);
  }
});

test("names that a card may not have", () => {
  for (const name of ["", " a", "a ", " ", "a".repeat(65), "\u00e9".repeat(33), "a\u0000", "\u001f", "\u007f", "\u0085", "a\u00a0b", "\u00ad", "\u061c",
    "\u200b", "\u200f", "\u2028", "\u202f", "\u2060", "\u206f", "\ufeff"]) assert.equal(parts.badCardName(name), true, JSON.stringify(name));
  for (const name of ["a", "a b", "a".repeat(64), "\u00e9".repeat(32), "\u00a1", "\u2010", "\u{1f0a1}"]) assert.equal(parts.badCardName(name), false, JSON.stringify(name));
});

// ------------------------------------------------------ terms and tickets, 16

const KINDS = { wheel: 1, pay_table: 2 };

test("terms.json: wheels and pay tables", () => {
  for (const c of some(TERMS.documents)) {
    const kind = KINDS[c.kind], written = bytes(c.document);
    if (c.want === "malformed") {
      assert.throws(() => parts.readTerms(kind, written), parts.Malformed, c.name);
      continue;
    }
    const { labels, total } = parts.readTerms(kind, written);
    assert.deepEqual([labels, total], [c.labels, c.total], c.name);
    assert.equal(hex(parts.termsHash(kind, written)), c.hash, c.name);
  }
  const most = new Uint8Array(65537).fill(97);
  assert.throws(() => parts.readTerms(KINDS.pay_table, most), parts.Malformed);
  assert.equal(parts.readTerms(KINDS.pay_table, most.subarray(1)).text.length, 65536);
});

test("terms.json: lists and proofs of tickets", () => {
  for (const c of some(TERMS.lists)) {
    const leaves = c.lines.map((line, i) => parts.ticketLeaf(i, bytes(c.salts[i]), line));
    assert.deepEqual(leaves.map(hex), c.leaves, c.name);
    assert.equal(hex(parts.rootOf(leaves)), c.root, c.name);
  }
  const errors = { malformed: parts.Malformed, unknown: parts.Unknown, root: parts.Fault };
  const golden = path.join(GOLDEN, "tickets.json");
  for (const c of [...some(TERMS.tickets), ...(existsSync(golden) ? some(JSON.parse(readFileSync(golden, "utf8")).tickets) : [])]) {
    for (const input of [c.text, utf8(c.text)]) {
      if (c.want === "ok") assert.ok(c.text.includes(`line ${shuffled.readTicket(input).line}\n`), c.name);
      else assert.throws(() => shuffled.readTicket(input), errors[c.want], c.name);
    }
  }
  assert.throws(() => shuffled.readTicket(new Uint8Array(200_000)), parts.Malformed);
});

test("a ticket and the transcript of its draw", async () => {
  const draw = async (name) => {
    const c = vectors().find((c) => c.name === name), v = await shuffled.verify(fileOf(c), c.trust);
    return { v, shows: c.want.shows };
  };
  const { v, shows } = await draw("terms-raffle"), others = [(await draw("terms-tickets")).v, (await draw("terms-wheel")).v, (await draw("numbers")).v];
  let drawn = 0, taken = 0;
  const golden = path.join(GOLDEN, "tickets.json");
  for (const c of [...some(TERMS.tickets), ...(existsSync(golden) ? some(JSON.parse(readFileSync(golden, "utf8")).tickets) : [])]) {
    const [, count, , number, line] = c.text.split("\n").map((s) => s.slice(s.indexOf(" ") + 1));
    if (c.want !== "ok" || count !== "7") {
      assert.throws(() => shuffled.ticketOf(c.text, v), c.want === "malformed" ? parts.Malformed : c.want === "unknown" ? parts.Unknown : parts.Fault, c.name);
      continue;
    }
    const t = shuffled.ticketOf(c.text, v), place = shows.indexOf(Number(number));
    assert.deepEqual([t.line, t.number, t.place], [line, Number(number), place < 0 ? undefined : place], c.name);
    if (place >= 0) drawn++;
    taken++;
    for (const other of others) assert.throws(() => shuffled.ticketOf(c.text, other), parts.Fault, c.name);
    for (const edit of [{ count: 8 }, { hash: v.terms.hash.replace(/^./, "A") }, { kind: "wheel" }]) {
      assert.throws(() => shuffled.ticketOf(c.text, { ...v, terms: { ...v.terms, ...edit } }), parts.Fault);
    }
  }
  assert.ok(taken > drawn && drawn > 0, `${taken} proofs, ${drawn} of them drawn`);
});

// ------------------------------------------------------- trees, RFC 6962

// The definitions of RFC 6962, 2.1 and 2.1.1, by recursion.
const split = (n) => 2 ** Math.floor(Math.log2(n - 1));
const mth = (d) => d.length === 1 ? d[0] : parts.nodeOf(mth(d.slice(0, split(d.length))), mth(d.slice(split(d.length))));
function auditPath(m, d) {
  if (d.length === 1) return [];
  const k = split(d.length), left = d.slice(0, k), right = d.slice(k);
  return m < k ? [...auditPath(m, left), mth(right)] : [...auditPath(m - k, right), mth(left)];
}

test("roots and paths are those of RFC 6962, and of no other length", () => {
  const leaves = Array.from({ length: 40 }, (_, i) => parts.leafOf(Uint8Array.of(i)));
  for (let n = 1; n <= leaves.length; n++) {
    const d = leaves.slice(0, n), root = mth(d);
    assert.deepEqual(parts.rootOf(d), root);
    for (let i = 0; i < n; i++) {
      const proof = parts.join(...auditPath(i, d));
      assert.deepEqual(parts.climb(d[i], i, n, proof), root, `${i} of ${n}`);
      assert.equal(parts.climb(d[i], i, n, parts.join(proof, root)), null, `${i} of ${n}, a hash more`);
      if (n > 1) assert.equal(parts.climb(d[i], i, n, proof.slice(0, -32)), null, `${i} of ${n}, a hash less`);
      assert.equal(parts.climb(d[i], n, n, proof), null, `${n} of ${n}`);
    }
  }
});

// ------------------------------------------------------------- entries, 5

// plain drops what is 0, false or empty, as the vectors do, and writes bytes as hex.
function plain(x) {
  if (x instanceof Uint8Array) return hex(x) || undefined;
  if (Array.isArray(x)) return x.length ? x.map((y) => plain(y) ?? 0) : undefined;
  if (x !== null && typeof x === "object") {
    const members = Object.entries(x).map(([k, v]) => [k, plain(v)]).filter(([, v]) => v !== undefined);
    return members.length ? Object.fromEntries(members) : undefined;
  }
  return x || undefined;
}

test("entries.json: good entries say what their fields say", () => {
  for (const c of some(ENTRIES.good)) {
    const entry = parts.parseEntry(bytes(c.bytes)), { type, ...fields } = entry;
    assert.ok(type in c.fields, c.name);
    assert.deepEqual(plain(fields), plain(c.fields), c.name);
    assert.deepEqual(entry.passed.map((p) => `${p.list} ${p.code}`), c.passed_over ?? [], c.name);
  }
});

test("entries.json: bad entries are malformed or unknown", () => {
  const errors = { malformed: parts.Malformed, unknown: parts.Unknown };
  for (const c of some(ENTRIES.bad)) {
    assert.throws(() => parts.parseEntry(bytes(c.bytes)), (e) => {
      assert.ok(e instanceof errors[c.want], `${c.name}: ${e}`);
      return true;
    }, c.name);
  }
});

// What is passed over at the end of an entry can have any length.
const hasForm = ({ opaque, event }) => opaque === undefined && event?.opaque === undefined;

test("no prefix of a good entry is one, nor a good entry with a byte more", () => {
  for (const c of some(ENTRIES.good.filter((g) => g.bytes.length < 1000 && hasForm(parts.parseEntry(bytes(g.bytes)))))) {
    const whole = bytes(c.bytes);
    for (let n = 0; n < whole.length; n++) assert.throws(() => parts.parseEntry(whole.subarray(0, n)), parts.Malformed, c.name);
    assert.throws(() => parts.parseEntry(parts.join(whole, Uint8Array.of(0))), parts.Malformed, c.name);
  }
});

// -------------------------------------------------------------- hashes, 6

test("hashes.json: commitments, salts, leaves and deck roots", async () => {
  for (const c of some(HASHES.commitments)) assert.equal(hex(parts.commitment(bytes(c.context), bytes(c.tape))), c.commitment, c.name);
  for (const c of some(HASHES.salts))
    assert.deepEqual((await parts.salts(bytes(c.commitment), bytes(c.tape), c.salts.length)).map(hex), c.salts, c.name);
  for (const c of some(HASHES.leaves)) assert.equal(hex(await parts.leafHash(bytes(c.tag), c.position, c.value, bytes(c.salt))), c.leaf, c.name);
  for (const c of some(HASHES.shuffles)) {
    const context = parts.parseContext(bytes(c.context)), tape = bytes(c.tape);
    const made = parts.commitment(bytes(c.context), tape);
    assert.equal(hex(made), c.commitment, c.name);
    const again = parts.recompute(context, tape);
    assert.deepEqual(again.values, c.values, c.name);
    assert.equal(again.endAt, c.end_at, c.name);
    const salts = await parts.salts(made, tape, c.values.length);
    assert.equal(hex(parts.leafTag(made, bytes(c.context))), c.tag, c.name);
    assert.equal(hex(parts.deckRoot(bytes(c.tag), again.values, salts)), c.deck_root, c.name);
  }
});

test("hashes.json: openings", () => {
  for (const c of some(HASHES.openings)) {
    const card = { position: c.position, value: c.value, salt: bytes(c.salt), proof: parts.join(...(c.path ?? []).map(bytes)) };
    assert.equal(parts.opens(bytes(c.tag), bytes(c.deck_root), c.m, card), c.opens, c.name);
  }
});

test("hashes.json: slots, seeds, places and shifts", async () => {
  for (const c of some(HASHES.slots)) assert.equal(hex(parts.slotHash(c.origin, c.table, bytes(c.r))), c.slot_hash, c.name);
  for (const c of some(HASHES.seeds)) {
    const values = c.values.map((v) => ({ ...v, value: v.value && bytes(v.value) }));
    assert.equal(hex(parts.mixSeed(bytes(c.commit_entry), values)), c.seed, c.name);
  }
  for (const c of some(HASHES.places)) assert.deepEqual(await parts.mixedPlaces(bytes(c.seed), c.m, c.cut), c.positions, c.name);
  for (const c of some(HASHES.shifts)) {
    const moved = await shifted(c.seed, c.ranges, c.values);
    assert.deepEqual(c.of ? parts.numbers(moved) : moved, c.shown, c.name);
  }
});

// The verifier of one file does not need these hashes. They are computed here by 1.5, 3.3, 5.3 and 5.7.
test("hashes.json: key tags, key ids, references and children", () => {
  const { label, sha256, join, str8, blob16 } = parts;
  const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
  for (const c of some(HASHES.key_tags)) {
    const at = uuid7.test(c.key) ? bytes(c.key.replaceAll("-", "").slice(0, 12)) : new Uint8Array(6);
    const further = c.i ? Uint8Array.of(c.i >> 8, c.i & 255) : new Uint8Array(0);
    const hash = sha256(label("key-tag"), str8(c.origin), str8(c.identity), str8(c.table), str8(c.key), further);
    assert.equal(hex(join(at, hash.subarray(0, 26))), c.key_tag, c.name);
  }
  for (const c of some(HASHES.key_ids)) assert.equal(hex(sha256(label("key-id"), bytes(c.key))), c.key_id, c.name);
  for (const c of some(HASHES.references)) {
    const salt = bytes(c.salt);
    const hash = sha256(label("reference"), Uint8Array.of(salt.length), salt, blob16(utf8(c.value)));
    assert.equal(`h.${Buffer.from(hash).toString("base64url")}`, c.reference, c.name);
  }
  for (const c of some(HASHES.children)) assert.deepEqual(c.indexes.map((x) => c.parent_values[c.positions[x]]), c.values, c.name);
});

// ------------------------------------------------------- receipts, 7

test("receipts.json: receipts fail at the step they name", async () => {
  for (const c of some(RECEIPTS.receipts)) {
    const v = await shuffled.verify(c.text, { vkey: c.vkey ?? RECEIPTS.vkey });
    assert.equal(v.failed ?? v.verdict, c.step, c.name);
    if (v.verdict !== "proved") continue;
    assert.equal(v.entry.index, c.index ?? 0, c.name);
    assert.equal(v.checkpoint.size, c.size, c.name);
    assert.equal(Buffer.from(/^extra (.*)$/m.exec(c.text)[1], "base64").toString("hex"), c.entry, c.name);
  }
});

test("receipts.json: checkpoints", async () => {
  for (const c of some(RECEIPTS.checkpoints)) {
    const key = parts.readVerifierKey(c.vkey ?? RECEIPTS.vkey, 1);
    if (c.step === "format") {
      assert.throws(() => parts.readCheckpoint(utf8(c.signed)), parts.Malformed, c.name);
      continue;
    }
    const read = parts.readCheckpoint(utf8(c.signed));
    assert.equal(read.origin === key.name && await parts.signed(read, key), c.step === "proved", c.name);
    if (c.step === "proved") assert.deepEqual([read.origin, read.size, hex(read.root)], [c.origin, c.size, c.root], c.name);
  }
});

// ---------------------------------------------------- transcripts, 8

test("transcripts.json: the one form", async () => {
  for (const c of some(TRANSCRIPTS.good)) {
    const j = new parts.Canonical(utf8(c.text)), read = parts.readForm(j), plainly = JSON.parse(c.text);
    assert.equal(JSON.stringify(plainly), c.text, c.name);
    const { kind, keys, statements, ...members } = read, text = (span) => span && new TextDecoder().decode(j.content(span));
    const base64 = (bytes) => Buffer.from(bytes).toString("base64"), hashes = (all) => Array.from({ length: all.length / 32 }, (_, i) => base64(all.subarray(32 * i, 32 * i + 32)));
    const checkpoint = text(read.checkpoint), receipts = read.receipts.map(text), early = read.witnessed;
    const witnessed = early && { checkpoint: text(early.checkpoint), leaf: base64(early.leaf), proof: hashes(early.path) };
    const cards = read.cards.map((x) => ({ ...x, salt: base64(x.salt), proof: hashes(x.proof) }));
    assert.deepEqual(JSON.parse(JSON.stringify({ format: "shuffled/v1/transcript", ...members, checkpoint, receipts, witnessed, keys: keys.length > 0 ? keys.map((k) => ({ receipt: text(k.receipt), checkpoint: text(k.checkpoint) })) : undefined, statements: statements.length > 0 ? statements.map(text) : undefined, cards })), plainly, c.name);
  }
  for (const c of some(TRANSCRIPTS.bad)) {
    const v = await shuffled.verify(c.text);
    assert.equal(c.want === "unknown" ? v.verdict : v.failed, c.want === "unknown" ? "cannot judge" : "format", c.name);
    if (c.text.startsWith("{")) assert.throws(() => parts.readForm(new parts.Canonical(utf8(c.text))), parts.Malformed, c.name);
  }
});

// ------------------------------------------------ the beacon, 4.4

const ROUNDS = some(readJSON("beacon", "beacontest", "quicknet.json").rounds).map((r) => ({ round: r.round, signature: bytes(r.signature) }));

test("quicknet.json: published rounds, and each as that of another round", async () => {
  for (const [i, { round, signature }] of ROUNDS.entries()) {
    assert.equal(await parts.signedRound(round, signature), true, `round ${round}`);
    assert.equal(await parts.signedRound(ROUNDS[(i + 1) % ROUNDS.length].round, signature), false, `round ${round} as the next`);
  }
});

// Each kind of 48 bytes that are not the one signature. The sum of the signature and a point (0, ±2) of order 3 passes
// the equation of pairings, and only the check of the subgroup refuses it.
test("a beacon's value that is not the one encoding of the one point", async () => {
  const p = 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn;
  const mod = (n) => (n % p + p) % p;
  const power = (base, e) => { let out = 1n; for (let b = mod(base); e > 0n; e >>= 1n, b = b * b % p) if (e & 1n) out = out * b % p; return out; };
  const point = (x, flags) => { const b = bytes(x.toString(16).padStart(96, "0")); b[0] |= flags; return b; };
  const { round, signature } = ROUNDS.at(-1);
  const changed = (change) => { const b = signature.slice(); change(b); return b; };
  const x = BigInt(`0x${hex(changed((b) => { b[0] &= 0x1f; }))}`), root = power(x * x * x + 4n, (p + 1n) / 4n), large = (y) => 2n * y > p;
  const y = large(root) === Boolean(signature[0] & 0x20) ? root : p - root;
  assert.deepEqual(point(x, large(y) ? 0xa0 : 0x80), signature);
  const order3 = [2n, p - 2n].map((small) => {
    const slope = mod((y - small) * power(x, p - 2n)), sumX = mod(slope * slope - x), sumY = mod((x - sumX) * slope - y);
    assert.equal(mod(sumY * sumY), mod(sumX * sumX * sumX + 4n));
    return point(sumX, large(sumY) ? 0xa0 : 0x80);
  });
  let off = x; // the x coordinate of no point
  do off += 1n; while (power(off * off * off + 4n, (p - 1n) / 2n) === 1n);
  for (const [name, value] of Object.entries({
    "negated": changed((b) => { b[0] ^= 0x20; }), "not compressed": changed((b) => { b[0] &= 0x7f; }), "infinity, with x": changed((b) => { b[0] |= 0x40; }),
    "infinity": point(0n, 0xc0), "infinity, negated": point(0n, 0xe0), "zero": new Uint8Array(48), "of order 3": point(0n, 0x80), "of order 3, negated": point(0n, 0xa0),
    "x is p": point(p, 0x80), "x is p, negated": point(p, 0xa0), "x not below p": point(p + 3n, 0x80), "not on the curve": point(off, 0x80),
    "with a point of order 3": order3[0], "with the other": order3[1], "47 bytes": signature.subarray(1), "49 bytes": parts.join(signature, Uint8Array.of(0)), "none": new Uint8Array(),
    "not compressed, of 96 bytes": parts.join(point(x, 0), point(y, 0)), "another round's": ROUNDS[0].signature,
  })) assert.equal(await parts.signedRound(round, value), false, name);
  for (const other of [0, round - 1, round + 1, Number.MAX_SAFE_INTEGER]) assert.equal(await parts.signedRound(other, signature), false, `round ${other}`);
  for (let bit = 0; bit < 384; bit += 7) assert.equal(await parts.signedRound(round, changed((b) => { b[bit >> 3] ^= 1 << (bit & 7); })), false, `bit ${bit}`);
});

// --------------------------------------------------- verdicts, 10

function vectors() {
  const root = path.join(DATA, "verify", "testdata", "vectors");
  return some([path.join(root, "good"), path.join(root, "bad"), path.join(GOLDEN, "files")].filter((dir) => existsSync(dir)).flatMap((dir) =>
    some(readdirSync(dir).filter((f) => f.endsWith(".json")).map((f) => vector(path.join(dir, f))))));
}

// vector reads a vector.
function vector(file) {
  const c = JSON.parse(readFileSync(file, "utf8"));
  if (c.trust.slots) c.trust.slots = c.trust.slots.map((s) => new Uint8Array(Buffer.from(s, "base64")));
  c.trust.coDealer = c.trust.co_dealer;
  return c;
}

const fileOf = (c) => c.file_base64 !== undefined ? new Uint8Array(Buffer.from(c.file_base64, "base64"))
  : new TextEncoder().encode(c.file ?? "");

test("the verdict vectors: verdict, level and failed step", async () => {
  for (const c of vectors()) {
    const v = await shuffled.verify(fileOf(c), c.trust);
    assert.deepEqual({ verdict: v.verdict, level: v.level, failed: v.failed, late: v.late, overlap: v.overlap, mixed: v.mixed, statements: v.level && v.statements },
      { verdict: c.want.verdict, level: c.want.level, failed: c.want.failed, late: c.want.late, overlap: c.want.overlap, mixed: c.want.mixed, statements: c.want.statements }, `${c.name}: ${v.steps.find((s) => s.result === "failed")?.detail ?? v.unknown ?? ""}`);
    if (v.level !== undefined) {
      assert.deepEqual(v.terms, c.want.terms, c.name);
      if (c.want.shuffled) assert.deepEqual(v.shuffled, c.want.shuffled, c.name);
      assert.deepEqual((v.cards ?? []).flatMap((card) => card.label ?? []), c.want.labels ?? [], c.name);
      assert.deepEqual(v.blind, c.want.blind, c.name);
      assert.deepEqual([v.not_blind, v.dealt_on, v.not_dealt_on], [c.want.not_blind, c.want.dealt_on, c.want.not_dealt_on], c.name);
      assert.equal(v.key_in_force, c.want.key_in_force, c.name);
      if (c.want.shows) assert.deepEqual(v.cards.map((card) => card.shows), c.want.shows, c.name);
    }
    checkShape(v, c.name);
  }
});

// checkShape checks that a verdict has the form of 10.4.
function checkShape(v, name) {
  assert.equal(typeof v.production, "boolean", name);
  const unread = v.unknown?.startsWith("what is trusted: ") ?? false;
  const names = v.steps.map((s) => s.name);
  assert.deepEqual(names, shuffled.steps.slice(0, names.length), name);
  assert.ok(unread ? names.length === 0 : v.kind === "transcript" ? names.length === shuffled.steps.length : v.kind === "receipt" ? names.length === 7 : [1, 7, shuffled.steps.length].includes(names.length), name);
  assert.equal(v.witnesses !== undefined, v.level === "witnessed" || v.level === "mixed", name);
  assert.equal(v.mixed !== undefined, v.level === "mixed", name);
  const results = v.steps.map((s) => s.result);
  assert.ok(results.every((r) => r === "ok" || r === "failed" || r === "not checked"), name);
  assert.ok(v.steps.every((s) => typeof s.detail === "string" && s.detail !== "" && (s.cause !== undefined) === (s.result === "failed")), name);
  const at = results.indexOf("failed");
  assert.equal(at < 0 ? undefined : v.steps[at].name, v.failed, name);
  if (at >= 0) assert.ok(results.slice(at + 1).every((r) => r === "not checked"), name);
  assert.equal(v.verdict === "failed", at >= 0, name);
  assert.equal(v.verdict === "cannot judge", v.unknown !== undefined, name);
  assert.equal(v.level !== undefined, v.verdict === "proved" || v.verdict === "consistent", name);
  assert.ok(v.cards === undefined || v.level !== undefined && v.kind === "transcript" && v.cards.length > 0, name);
}

test("the verdict says what a closed transcript says", async () => {
  const c = vectors().find((x) => x.name === "closed"), file = JSON.parse(c.file);
  const { steps, cards, ...rest } = await shuffled.verify(fileOf(c), c.trust);
  const { identity, commit } = parts.parseEntry(new Uint8Array(Buffer.from(/^extra (.*)$/m.exec(file.receipts[1])[1], "base64")));
  const base64 = (b) => Buffer.from(b).toString("base64");
  assert.deepEqual(rest, {
    verdict: "proved", level: "recorded", production: true, kind: "transcript", ledger: "example.com/main",
    checkpoint: { origin: "example.com/main", size: Number(file.checkpoint.split("\n")[1]) }, id: file.id, table: "table-1", serial: 1, game_ref: "hand-1",
    owner: identity, commitment: base64(commit.commitment), deck_root: base64(commit.deck_root),
    disclosure: "public", committed_at: "2026-03-14T15:09:30.535Z", close_by: "2026-03-14T16:09:30.535Z",
    places: 6, next: 6, shown: 2, state: "closed", closed_at: "2026-03-14T15:09:33.535Z", outcome: "completed", shuffled: { kind: "cards", cards: 6 }, key_in_force: "not_shown",
  });
  const [{ place, position, value, card }] = file.cards;
  assert.deepEqual(cards[0], { place, position, value, card, purpose: "seat", recipient: "seat-1", public: false });
  assert.equal(cards.length, 6);
});

// ------------------------------------------------------------- mutants

test("no file with a byte changed, lost or added is proved", async () => {
  const files = vectors().filter((c) => ["closed", "draws", "mixed", "recipient", "take-4-of-6", "receipt-commit-4", "child", "terms-wheel"].includes(c.name));
  assert.equal(files.length, 8);
  const next = random(1);
  for (const c of files) {
    const good = fileOf(c);
    for (let i = 0; i < 150; i++) {
      const at = next() % good.length, b = Uint8Array.of(next() & 0xff);
      const bad = [
        parts.join(good.subarray(0, at), Uint8Array.of(good[at] ^ 1 << next() % 8), good.subarray(at + 1)),
        parts.join(good.subarray(0, at), good.subarray(at + 1)),
        parts.join(good.subarray(0, at), b, good.subarray(at)),
      ][i % 3];
      const v = await shuffled.verify(bad, c.trust);
      assert.ok(v.verdict === "failed" || v.verdict === "cannot judge", `${c.name}: byte ${at}, mutant ${i}`);
      checkShape(v, c.name);
    }
  }
});

test("random bytes and huge files are refused, and never throw", async () => {
  const next = random(2);
  for (let i = 0; i < 200; i++) {
    const junk = Uint8Array.from({ length: next() % 300 }, () => next() & 0xff);
    const v = await shuffled.verify(i % 2 ? junk : parts.join(new TextEncoder().encode('{"format":"shuffled/v1/transcript"'), junk));
    assert.equal(v.failed, "format");
  }
  const MiB = 2 ** 20;
  for (const text of ["{".repeat(32 * MiB), `{"format":"${"a".repeat(31 * MiB)}`, `c2sp.org/tlog-proof@v1\nextra ${"A".repeat(31 * MiB)}\n`,
    "c2sp.org/tlog-proof@v1\nextra AAAA\nindex 0\n" + `${"A".repeat(43)}=\n`.repeat(700000), "{".repeat(32 * MiB + 1)])
    assert.equal((await shuffled.verify(text)).failed, "format");
});

// --------------------------------------- a house of our own, and its frauds

test("an honest house is proved, whatever it shuffles", async () => {
  const key = await house.newKey(ORIGIN), next = random(3);
  for (let i = 0; i < 60; i++) {
    const n = 2 + next() % 70, m = 1 + next() % n, slots = next() % 3;
    const recipe = i % 3 === 2 ? { ranges: Array.from({ length: 1 + next() % 9 }, () => 1 + next() % 2 ** (1 + next() % 30)) } : { deck: deckOf(n), m };
    Object.assign(recipe, { seed: next(), slots, beacon: next() % 2 === 1 });
    if (recipe.deck && next() % 2) recipe.cut = next() % m;
    if (recipe.deck && m > 2 && next() % 2) Object.assign(recipe, { lo: 1 + next() % (m - 1), hi: m });
    const v = await shuffled.verify(await game(key, recipe), { vkey: key.vkey });
    assert.deepEqual([v.verdict, v.level], ["proved", "recorded"], JSON.stringify([recipe, v.steps.find((s) => s.result === "failed")]));
    assert.ok(v.steps.every((s) => s.result === "ok" || ["witnesses", "slots", "beacon", "asked", "co_dealer", "terms", "statements"].includes(s.name)));
    if (recipe.hi) assert.ok(v.end_at >= recipe.lo && v.end_at <= recipe.hi);
    const { steps, level, ...unpinned } = await shuffled.verify(await game(key, recipe));
    assert.deepEqual([unpinned.verdict, level], ["consistent", "key not pinned"]);
  }
});

test("a house that breaks a rule fails at the step that is for it", async () => {
  const key = await house.newKey(ORIGIN);
  const cards = { deck: deckOf(6), m: 6 }, mixed = { ...cards, slots: 1, cut: 2 };
  for (const [what, recipe, cheat, failed] of [
    ["instance 0", cards, { commit: { instance: 0 } }, "legality"],
    ["instance is the commit", cards, { commit: { instance: 2 } }, "legality"],
    ["previous is the commit", cards, { commit: { serial: 2, previous: 2 } }, "legality"],
    ["close-by at the commit's time", cards, { commit: { closeBy: house.T } }, "legality"],
    ["open and undealt", cards, { undealt: true, open: true }, undefined],
    ["close-by at the commit's time, undealt", cards, { undealt: true, open: true, commit: { closeBy: house.T } }, "legality"],
    ["a deck with a name that looks like another", { ...cards, deck: [...deckOf(5), "card\u00a00"] }, {}, "deck"],
    ["close-by past the cap", cards, { genesis: { cap: 59 + 1 }, commit: { closeBy: house.T + 60001 } }, "legality"],
    ["a cut that is not declared", mixed, { genesis: { modes: 1 } }, "legality"],
    ["a cut beyond the last card", { ...mixed, cut: 6 }, {}, "legality"],
    ["a mix that names a larger checkpoint", mixed, { mix: { checkpoint: 4 } }, "legality"],
    ["a mix that is older", mixed, { mix: { time: house.T - 1 } }, "legality"],
    ["a mix at close-by", mixed, { mix: { time: house.T + 60000 } }, "legality"],
    ["a final deal before another", cards, { deal: () => ({ final: 1 }) }, "legality"],
    ["a final deal, then a continued close", cards, { close: { outcome: 3 } }, "legality"],
    ["a continued close at once", cards, { deal: () => ({ final: 0 }), close: { outcome: 3 } }, "legality"],
    ["expired at once", cards, { close: { outcome: 5 } }, "legality"],
    ["completed at close-by", cards, { close: { time: house.T + 60000 } }, "legality"],
    ["an open file that ends with a final deal", cards, { open: true }, "legality"],
    ["a deal under its own append", cards, { deal: () => ({ checkpoint: 2 }) }, "legality"],
    ["a deal under its own append, where witnesses are asked for", cards, { genesis: { deals: 2, policy: "quorum none\n" }, deal: () => ({ checkpoint: 2 }) }, "legality"],
    ["a sealed tape where it is public", cards, { close: { form: 2, key: 1 } }, "legality"],
    ["a public tape where it is sealed", cards, { context: { disclosure: 2 } }, "legality"],
    ["a sealed tape of the tape's length", cards, { context: { disclosure: 2 }, close: { form: 2, key: 1 } }, "legality"],
    ["a sealed tape, its key the close", cards, { context: { disclosure: 2 }, close: { form: 2, key: 6, tape: new Uint8Array(60 + 81) } }, "legality"],
    ["a sealed tape, its key the genesis", cards, { context: { disclosure: 2 }, close: { form: 2, key: 0, tape: new Uint8Array(60 + 81) } }, "legality"],
    ["a sealed tape, as it should be", cards, { context: { disclosure: 2 }, close: { form: 2, key: 1, tape: new Uint8Array(60 + 81) } }, undefined],
    ["a child, and a deal where its parent's close must be", { ...cards, parent: { id: 1, positions: [0, 1, 2, 3, 4, 5] } }, {}, "legality"],
    ["another tape", cards, { close: { tape: new Uint8Array(60) } }, "tape"],
    ["another deck root", cards, { commit: { root: new Uint8Array(32) } }, "openings"],
    ["another production", cards, { genesis: { production: 1 } }, "origin"],
    ["another genesis", cards, { context: { genesis: new Uint8Array(32) } }, "origin"],
    ["another origin", cards, { genesis: { origin: "house.example/other" } }, "origin"],
    ["a deal of nothing it has", cards, { deal: (first) => ({ cards: first === 4 ? 3 : 2 }) }, "legality"],
    ["a deal at a wrong place", cards, { deal: (first) => ({ first: first + 1 }) }, "legality"],
    ["a deal at close-by", cards, { deal: () => ({ time: house.T + 60000 }) }, "legality"],
    ["a deal of another shuffle", cards, { deal: () => ({ shuffle: 1 }) }, "entries"],
  ]) {
    const v = await shuffled.verify(await game(key, recipe, cheat), { vkey: key.vkey });
    assert.equal(v.failed, failed, `${what}: ${JSON.stringify(v.steps.find((s) => s.result === "failed"))}`);
  }
});

test("only a key named like the origin signs for it", async () => {
  const main = await house.newKey(ORIGIN), later = await house.newKey(ORIGIN), other = await house.newKey("other.example");
  const [text] = await house.receipts(ORIGIN, [main, other, later], [house.genesis(main), house.start()], [1]);
  for (const [key, failed] of [[main, undefined], [later, undefined], [other, "signature"]])
    assert.equal((await shuffled.verify(text, { vkey: key.vkey })).failed, failed);
  const policy = `log ${other.vkey}\nlog ${later.vkey}\nquorum none\n`;
  assert.equal((await shuffled.verify(text, { policy })).verdict, "proved");
});

test("a quorum counts each witness that cosigned, and no other", async () => {
  const key = await house.newKey(ORIGIN);
  const [w1, w2, w3] = await Promise.all(["w1.example", "w2.example", "w3.example"].map(house.newWitness));
  const policy = (quorum) => `log ${key.vkey}\nwitness a ${w1.vkey}\nwitness b ${w2.vkey}\nwitness c ${w3.vkey}\n${quorum}\n`;
  const two = "group g 2 a b c\nquorum g", nested = "group x any a b\ngroup y all x c\nquorum y";
  for (const [signers, quorum, failed] of [
    [[w1.at(1n), w2.at(2n)], two, undefined],
    [[w1.at(1n), w2.at(253402300799n)], two, undefined],
    [[w1.at(1n), w2.at(253402300800n)], two, "witnesses"],
    [[w1.at(1n), w2.at(0n)], two, "witnesses"],
    [[w1.at(1n), w2.at(2n ** 64n - 1n)], two, "witnesses"],
    [[w1.at(1n), w2.at(2n, 3n)], two, "witnesses"],
    [[w1.at(1n), w2.at(2n, 3n), w3.at(4n)], two, undefined], // the quorum does not need the bad one
    [[w1.at(1n)], two, "witnesses"],
    [[], two, "witnesses"],
    [[w1.at(1n)], "quorum a", undefined],
    [[w1.at(1n)], "quorum b", "witnesses"],
    [[w2.at(1n), w3.at(1n)], nested, undefined],
    [[w1.at(1n), w2.at(1n)], nested, "witnesses"],
    [[w3.at(1n)], nested, "witnesses"],
    [[], "quorum none", undefined],
  ]) {
    const [text] = await house.receipts(ORIGIN, [key, ...signers], [house.genesis(key), house.start()], [1]);
    const v = await shuffled.verify(text, { policy: policy(quorum) });
    assert.equal(v.failed, failed, `${signers.length} ${quorum}`);
    if (!failed) assert.equal(v.level, quorum === "quorum none" ? "recorded" : "witnessed");
  }
});

test("a checkpoint has one form", async () => {
  const key = await house.newKey(ORIGIN);
  const [text] = await house.receipts(ORIGIN, [key], [house.start()], [0]);
  const checkpoint = text.slice(text.indexOf("\n\n") + 2);
  const [origin, size, root, , line] = checkpoint.split("\n");
  parts.readCheckpoint(utf8(checkpoint));
  const sign = (bytes) => `\u2014 ${ORIGIN} ${Buffer.alloc(bytes).toString("base64")}`;
  parts.readCheckpoint(utf8([origin, size, root, "", line, sign(5), ""].join("\n")));
  for (const lines of [
    [origin, size, root, line, line, ""], [origin, size, root, line, ""], [origin, size, root, "more", line, ""], [origin, size, root, "", line, "", ""],
    [origin, size, root, "", sign(4), ""], [origin, size, root, "", line, `${line} `, ""], [origin, size, root, "", line, line.replace(ORIGIN, `${ORIGIN}\t`), ""],
    [origin, size, root, "", line, line.replace(ORIGIN, "a+b"), ""], [origin, size, root, "", line, line.replace(ORIGIN, "a\u00a0b"), ""],
    [origin, size, root, "", line, line.replace(ORIGIN, ""), ""],
  ]) assert.throws(() => parts.readCheckpoint(utf8(lines.join("\n"))), parts.Malformed, JSON.stringify(lines));
});

test("JSON has one spelling", async () => {
  const good = vectors().find((c) => c.name === "custom-deck"), { trust } = good;
  const deck = JSON.parse(good.file).deck;
  const spelled = (list) => good.file.replace(JSON.stringify(deck), list);
  assert.equal((await shuffled.verify(spelled(JSON.stringify(deck)), trust)).verdict, "proved");
  const string = (s) => spelled(`[${s},"b"]`);
  for (const s of ['"\\b"', '"\\f"', '"\\n"', '"\\r"', '"\\t"', '"\\u0000"', '"\\u0007"', '"\\u000b"', '"\\u001f"', '"\u007f"', '"\u2028"', '""'])
    assert.equal((await shuffled.verify(string(s), trust)).failed, "deck", s);
  for (const s of ['"\\u0008"', '"\\u0009"', '"\\u000a"', '"\\u000c"', '"\\u000d"', '"\\u0022"', '"\\u005c"', '"\\u0020"', '"\\u001F"', '"\\U0007"', '"\\u007"', '"\\/"',
    '"\t"', '"\n"', '"\u0000"', '"\u001f"', '"\\x"', "'a'", "a", "1", "null", "[]", '"', '"a\\'])
    assert.equal((await shuffled.verify(string(s), trust)).failed, "format", JSON.stringify(s));
  for (const list of ["[]", "[ ]", '["a",]', "{}", "null", '["a" ,"b"]'])
    assert.equal((await shuffled.verify(spelled(list), trust)).failed, "format", list);
});

// ------------------------------------------------------- slots, and the story

test("a slot's value is 32 bytes, as people have it", async () => {
  const value = Uint8Array.from({ length: 32 }, (_, i) => 7 * i), base64 = Buffer.from(value).toString("base64");
  const printed = `value  ${base64}  keep it until the commit is witnessed\nhash   ${"A".repeat(43)}=  hand it in before the commit\n`;
  for (const [text, n] of [["", 0], [" \n", 0], [base64, 1], [` ${hex(value)}\n`, 1], [hex(value).toUpperCase(), 1], [`${base64} ${hex(value)}`, 2], [printed, 1], [printed.replace("\n", " "), 1]]) {
    const values = shuffled.readSlots(text);
    assert.equal(values.length, n, text);
    for (const v of values) assert.deepEqual(v, value, text);
  }
  for (const text of ["a", base64.slice(0, -1), hex(value).slice(1), `${hex(value)}0`, `${base64} no`, base64.replaceAll("=", ""), Buffer.alloc(33).toString("base64"), "value", "value  no"])
    assert.equal(shuffled.readSlots(text), null, text);
  const c = vectors().find((x) => x.name === "slot");
  await assert.rejects(shuffled.verify(fileOf(c), { ...c.trust, slots: [value.subarray(1)] }), TypeError);
  await assert.rejects(shuffled.verify(fileOf(c), { ...c.trust, slots: [base64] }), TypeError);
});

test("the story is told of a shuffle that holds, and of no other", async () => {
  const story = async (name) => {
    const c = vectors().find((x) => x.name === name), { verdict, story } = await shuffled.judge(fileOf(c), c.trust);
    assert.deepEqual(verdict, await shuffled.verify(fileOf(c), c.trust));
    return story;
  };
  for (const name of ["card-value", "unknown-format", "receipt-commit-4"]) assert.equal(await story(name), null, name);
  const { deck, dealt, ...both } = await story("slots");
  assert.equal(deck.length, 6);
  assert.equal(dealt.length, 3);
  assert.deepEqual(dealt[0], { purpose: "seat", recipient: "seat-1", public: false, round: 0 });
  assert.deepEqual(both, { ranges: null, of: null, cards: 6, taken: 6, mixed: true, choice: null, coDealer: undefined, parent: null, cutCard: null, order: null, tape: "public",
    dealers: [{ identity: "dealer", first: 0, last: 2 }],
    plan: [{ source: "slot", mine: true, round: undefined, cut: undefined }, { source: "slot", mine: true, round: undefined, cut: undefined }] });
  assert.deepEqual((await story("child")).parent, { id: 4, cards: (await story("child")).cards });
  assert.deepEqual((await story("end-at-drawn")).cutCard.place, vectors().find((x) => x.name === "end-at-drawn") && (await shuffled.verify(fileOf(vectors().find((x) => x.name === "end-at-drawn")))).end_at);
  assert.match((await story("slot-and-cut")).choice, /cut/);
  assert.match((await story("beacon-child")).choice, /child/);
  assert.match((await story("slot-take-4-of-6")).choice, /4 of the 6/);
  const key = await house.newKey(ORIGIN);
  const handed = await shuffled.judge(await game(key, { deck: deckOf(6), m: 6, deals: [{ cards: 2 }, { cards: 4, purpose: 6, recipient: "", public: 0 }] }), { vkey: key.vkey });
  assert.deepEqual([handed.verdict.verdict, handed.story.order], ["proved", { first: 2, cards: 4 }]);
});

// ------------------------------------------------------- keys and policies

const LOG = "log example.com/main+5a13c3f8+AacNZZyyS8keV+OAvPxztWv9IjCA2KZIB+B5lr+s8qXo";
const W1 = "witness a witness.example/1+3189954b+BPDW9SfdVHpLZzo9l9lyjzf+2CuUHsoevWKF9nrFBeh0";
const W2 = "witness b witness.example/2+1f1c7853+BH0qasICe2Eqf4131gLHplonUL2z99HUuZR+CgKXrwpf";

test("policies that are read", async () => {
  for (const [lines, logs, witnesses] of [
    [["quorum none"], 0, 0],
    [[`\t ${LOG}  https://example.com/log`, "", "# caf\u00e9", "quorum none"], 1, 0],
    [[LOG, W1, W2, "group g all a b", "group h any g", "quorum h"], 1, 2],
    [[W1, W2, "group g 2 a b", "quorum g", LOG], 1, 2],
    [[W1, "quorum a"], 0, 1],
    [["#".repeat(8192), "quorum none"], 0, 0],
    [["quorum h", W1, "group h 1 a", ""], 0, 1],
    [Array.from({ length: 15 }, () => "#".repeat(8191)).concat("quorum none"), 0, 0],
  ]) {
    const p = parts.readPolicy(lines.join("\n"));
    assert.deepEqual([p.logs.length, p.witnesses.length], [logs, witnesses]);
  }
});

test("policies that cannot be read", async () => {
  for (const text of [
    "", LOG, `${LOG}\nquorum a`, "quorum none\nquorum none", `${LOG}\n${LOG}\nquorum none`, `${W1}\n${W1}\nquorum a`,
    `${W1}\n${W1.replace(" a ", " b ")}\nquorum a`, `${W1}\ngroup g 0 a\nquorum g`, `${W1}\ngroup g 2 a\nquorum g`, `${W1}\ngroup g 01 a\nquorum g`,
    `${W1}\ngroup g any a a\nquorum g`, `${W1}\ngroup g any none\nquorum g`, `group g any a\n${W1}\nquorum g`, `${W1}\ngroup g any\nquorum g`,
    `${W1}\ngroup g any a\ngroup h any a\nquorum g`, `${W1}\ngroup a any a\nquorum a`, `${W1.replace(" a ", " none ")}\nquorum none`,
    `${LOG}\r\nquorum none`, "quorum none\u0000", "quorum n\u00f6ne", "Quorum none", "quorum none more", `log ${W1.split(" ")[2]}\nquorum none`,
    `log ${LOG.split(" ")[1].replace("5a13c3f8", "5A13C3F8")}\nquorum none`, `${LOG} # ours\nquorum none`, `${LOG}#\nquorum none`, "# \u0085\nquorum none", "#\u0007\nquorum none",
    `${"#".repeat(8193)}\nquorum none`, `${"# 89\n".repeat(26215)}quorum none`, "quorum log", `${W1.replace(" a ", " any ")}\nquorum any`, `${W1}\nquorum`, "log\nquorum none",
    `${W1}\ngroup g any a\nquorum g\n`.replaceAll("any", "1.0"), `${W1} u v\nquorum a`, `${LOG} u v\nquorum none`, "group g any\nquorum none", "__proto__\nquorum none", "constructor a\nquorum none",
  ]) assert.throws(() => parts.readPolicy(text), parts.Malformed, text.slice(0, 80));
  assert.throws(() => parts.readPolicy(Uint8Array.of(...utf8("# "), 0xc9, ...utf8("\nquorum none"))), parts.Malformed);
  for (const text of [`witness a ${LOG.split(" ")[1]}\nquorum a`]) assert.throws(() => parts.readPolicy(text), parts.Unknown);
});

// Points of small order, points in other encodings, and encodings of no point.
test("weak and impossible keys are refused", () => {
  const y = (n) => Uint8Array.from({ length: 32 }, (_, i) => Number(n >> BigInt(8 * i) & 255n));
  const p = 2n ** 255n - 19n, top = 2n ** 255n;
  const order8 = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;
  const small = [0n, 1n, p - 1n, order8, p - order8].flatMap((n) => [y(n), y(n + top)]);
  const other = [p, p + 1n, p + 9n, top - 1n].flatMap((n) => [y(n), y(n + top)]);
  const none = [y(2n), y(7n)];
  for (const key of some([...small, ...other, ...none, new Uint8Array(31), new Uint8Array(33)])) assert.equal(parts.strongKey(key), false, hex(key));
  const base = y(46316835694926478169428394003475163141307993866256225615783033603165251855960n);
  assert.equal(parts.strongKey(base), true);
  for (const c of some(vectors().filter((x) => x.trust.vkey && x.trust.vkey.length < 300 && x.want.verdict === "proved")))
    assert.equal(parts.strongKey(new Uint8Array(Buffer.from(c.trust.vkey.split("+").slice(2).join("+"), "base64")).subarray(1)), true);
});

test("a key or policy that cannot be read is no fault of the file", async () => {
  const c = vectors().find((x) => x.name === "closed");
  const weak = Uint8Array.of(1, 1, ...new Uint8Array(31)); // type 1, the neutral point
  const id = hex(parts.sha256(utf8("example.com/main\n"), weak).subarray(0, 4));
  const typed = new Uint8Array(Buffer.from(c.trust.vkey.split("+").slice(2).join("+"), "base64")), long = "é".repeat(100); // 200 bytes
  const longId = hex(parts.sha256(utf8(`${long}\n`), typed).subarray(0, 4));
  for (const trust of [{ vkey: `${long}+${longId}+${Buffer.from(typed).toString("base64")}` }, { vkey: `example.com/main+${id}+${Buffer.from(weak).toString("base64")}` }, { vkey: "" }, { vkey: "a" }, { vkey: `${c.trust.vkey} ` }, { vkey: c.trust.vkey.replace("5a13c3f8", "5a13c3f9") }, { policy: "" }]) {
    const v = await shuffled.verify(fileOf(c), trust);
    assert.equal(v.verdict, "cannot judge");
    assert.deepEqual([v.steps, v.production, v.kind], [[], false, undefined]);
    checkShape(v, JSON.stringify(trust));
  }
  await assert.rejects(shuffled.verify(fileOf(c), { vkey: c.trust.vkey, policy: "quorum none" }), TypeError);
  await assert.rejects(shuffled.verify(null), TypeError);
});

// --------------------------------------------------- what a browser may lack

test("without Ed25519 the signature is not checked, and there is no level", async () => {
  const real = globalThis.crypto.subtle;
  const subtle = new Proxy(real, { get: (target, name) => name === "importKey"
    ? (format, key, algorithm, ...rest) => (algorithm.name ?? algorithm) === "Ed25519"
      ? Promise.reject(new DOMException("Unrecognized name.", "NotSupportedError")) : target.importKey(format, key, algorithm, ...rest)
    : target[name].bind(target) });
  const block = /<script id="verifier">([\s\S]*?)<\/script>/.exec(HTML)[1];
  const without = vm.runInNewContext(`${block}\nshuffled`, { crypto: { subtle }, TextEncoder, TextDecoder, Uint8Array, btoa, Error, TypeError });
  for (const [name, trust] of [["closed", undefined], ["closed", {}], ["cosigned-2-of-3", undefined]]) {
    const c = vectors().find((x) => x.name === name);
    const v = await without.verify(fileOf(c), trust ?? c.trust);
    assert.deepEqual([v.verdict, v.level], ["cannot judge", undefined]);
    assert.equal(v.steps.find((s) => s.name === "signature").result, "not checked");
    assert.equal(v.steps.find((s) => s.name === "openings").result, "ok");
  }
  const c = vectors().find((x) => x.name === "card-value");
  assert.equal((await without.verify(fileOf(c), c.trust)).failed, "openings");
  const nothing = vm.runInNewContext(`${block}\nshuffled`, { TextEncoder, TextDecoder, Uint8Array, btoa, Error, TypeError });
  await assert.rejects(nothing.verify(""), /WebCrypto/);
});

// -------------------------------------------------------- the command line

test("verify.mjs: exit codes", async (t) => {
  const dir = mkdtempSync(path.join(tmpdir(), "verify-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const write = (name, data) => { const f = path.join(dir, name); writeFileSync(f, data); return f; };
  const run = (...args) => new Promise((resolve) => execFile(process.execPath, [path.join(HERE, "verify.mjs"), ...args],
    (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr })));
  const by = (name) => vectors().find((x) => x.name === name);
  const good = write("good.json", fileOf(by("closed"))), bad = write("bad.json", fileOf(by("card-value")));
  const later = write("later.json", fileOf(by("unknown-format")));
  const { vkey } = by("closed").trust, keyFile = write("key", `${vkey}\n`);
  const policy = write("policy", by("cosigned-2-of-3").trust.policy), cosigned = write("cosigned.json", fileOf(by("cosigned-2-of-3")));
  const mine = by("slot"), slotted = write("slot.json", fileOf(mine)), slotPolicy = write("slot.policy", mine.trust.policy);
  const beacon = write("beacon.json", fileOf(by("level-mixed"))), beaconPolicy = write("beacon.policy", by("level-mixed").trust.policy);
  const stated = write("stated.json", fileOf(by("stated"))), [lab] = by("stated").trust.auditors, labFile = write("lab.vkey", `${lab}\n`);
  const slot = write("my-slot", `value  ${Buffer.from(mine.trust.slots[0]).toString("base64")}  keep it\n`);
  for (const [code, text, ...args] of [
    [0, /PROVED, at the level "recorded"/, "--key", vkey, good],
    [0, /PROVED/, good, `--key=${keyFile}`],
    [0, /PROVED/, "--policy", policy, cosigned],
    [0, /CONSISTENT, at the level "key not pinned"/, good],
    [1, /FAILED at openings/, "--key", vkey, bad],
    [1, /FAILED at witnesses/, "--policy", policy, good],
    [3, /CANNOT JUDGE: transcript format/, "--key", vkey, later],
    [0, /PROVED, at the level "mixed" for the holder of the slot alone/, "--policy", slotPolicy, "--my-slot-file", slot, slotted],
    [0, /PROVED, at the level "mixed" for everybody/, "--policy", beaconPolicy, beacon],
    [1, /FAILED at slots/, "--key", vkey, `--my-slot-file=${slot}`, good],
    [2, /holds no value of a slot/, "--my-slot-file", policy, good], [2, /usage/, good, "--my-slot-file"],
    [0, /lab\.example\/shuffles, an auditor whom you trust, states/, "--key", vkey, "--auditor", labFile, stated],
    [0, /lab\.example\/shuffles signed a statement, and is not trusted[\s\S]*not shown by this file: that the deck/, "--key", vkey, stated],
    [2, /usage/, stated, "--auditor"], [3, /what is trusted/, `--auditor=${keyFile}`, "--key", `${vkey.slice(0, -4)}AAA=`, good],
    [3, /no such file/, path.join(dir, "none")],
    [3, /no such file/, "--key", path.join(dir, "none"), good],
    [2, /usage/], [2, /usage/, "--key"], [2, /usage/, "--nonsense", good], [2, /usage/, good, bad], [2, /not both/, "--key", vkey, "--policy", policy, good],
    [0, /usage/, "--help"],
  ]) {
    const r = await run(...args);
    assert.equal(r.code, code, args.join(" ") + r.stderr);
    assert.match(r.stdout + r.stderr, text);
  }
  const v = JSON.parse((await run("--json", "--key", vkey, good)).stdout);
  assert.deepEqual([v.verdict, v.level, v.cards.length], ["proved", "recorded", 6]);
});
