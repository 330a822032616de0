// Tests of answers that are false, lost, or to somebody else's request.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import test from "node:test";
import { daemon, start } from "./daemon.mjs";
import { Liar, forgeries } from "./liar.mjs";
import { Client, isFault, newKey, newSlot } from "../dist/index.js";
import { fileState } from "../dist/node.js";

const SEATS = [
  { count: 2, purpose: "seat", recipient: "seat-1" },
  { count: 1, purpose: "burn" },
];
const BOARD = [{ count: 3, purpose: "board", public: true }];

// The client made the call before, so an answer can be a repeat. A lie about that may pass.
const HARMLESS = "/repeated";

// lieAbout makes a call twice, and then changes its answer in every way of forgeries. Each must be a fault.
async function lieAbout(t, liar, name, at, call, { harmless = {}, added = {} } = {}) {
  let truth;
  liar.tell(at, (text) => (truth = text));
  await call();
  await call();
  const lies = forgeries(truth, added);
  assert.ok(lies.size >= 8, `${name}: ${lies.size} lies`);
  for (const [lie, forged] of lies) {
    liar.tell(at, () => forged);
    const e = await call().then(
      () => null,
      (e) => e,
    );
    if (e === null && [HARMLESS, ...Object.keys(harmless)].some((begin) => lie.startsWith(begin))) continue;
    assert.ok(isFault(e), `${name}: ${lie} was believed: ${e}`);
  }
  liar.tell(null);
  await call();
  t.diagnostic(`${name}: ${lies.size} lies`);
}

test("every lie about one member is a fault", { timeout: 300_000 }, async (t) => {
  const d = await daemon(t),
    liar = new Liar(),
    c = d.client({ fetch: liar.fetch }),
    again = { firstTried: Date.now() };
  const slot = newSlot(c.origin, "t"),
    key = newKey(),
    asked = { table: "t", deck: "standard-52", mix: { slots: [slot.hash], cut: true } };
  let s = await c.commit(key, asked);
  await lieAbout(t, liar, "commit", "/shuffles", () => c.commit(key, asked));
  await lieAbout(t, liar, "mix", "/mix", () => c.mix(s, { slots: [slot.value], cut: 3 }, again));
  await lieAbout(t, liar, "deal", "/deal", () => c.deal(s, { first: 0, runs: SEATS }, again), {
    added: { last_hand: true, close: {}, shows: [1], labels: ["x"] },
  });
  await lieAbout(t, liar, "reveal", "/reveal", () => c.reveal(s, { places: [0] }, again));
  await lieAbout(t, liar, "state", `/shuffles/${s.id}`, () => c.state(s.id), {
    harmless: {
      "/state": "read from a transcript",
      "/owner": "too",
      "/mixed": "too",
      "/next": "an open shuffle may be dealt on",
    },
    added: { last_hand: true },
  });
  await lieAbout(t, liar, "close", "/close", () => c.close(s, { outcome: "completed" }, again), {
    added: { reveal: {} },
  });
  const dice = newKey(),
    draws = await c.draws(dice, { table: "dice", ranges: [6, 6, 6] });
  await lieAbout(t, liar, "draws", "/deal", () => c.deal(draws, { first: 0, runs: BOARD }, again), {
    added: { labels: ["x"] },
  });
});

test("an answer that was lost is asked for again with the same key and bytes", async (t) => {
  const d = await daemon(t),
    liar = new Liar(),
    c = d.client({ fetch: liar.fetch });
  liar.lost = 2;
  const s = await c.commit("a-key-of-the-game", { table: "t", deck: "standard-52" });
  assert.ok(s.repeated);
  assert.deepEqual(new Set(liar.calls.map((x) => `${x.key} ${x.body}`)).size, 1);
  liar.lost = 1;
  assert.equal((await c.deal(s, { first: 0, runs: SEATS })).repeated, true);
  liar.lost = 8;
  await assert.rejects(c.close(s, { outcome: "completed" }), (e) => e.code === "network" && e.unknown);
  await assert.rejects(c.close(s, { outcome: "completed" }), isFault, "a repeat that this call did not try");
  assert.equal((await c.close(s, { outcome: "completed" }, { firstTried: Date.now() - 1000 })).repeated, true);
});

test("a repeat that is not its own is refused, and so is what is older than the request", async (t) => {
  const d = await daemon(t),
    thief = d.client(),
    c = d.client();
  const s = await c.commit(newKey(), { table: "t", deck: "standard-52" });
  await thief.deal(await thief.load(s.id), { first: 0, runs: SEATS });
  await assert.rejects(
    c.deal(s, { first: 0, runs: SEATS }),
    (e) => isFault(e) && /before this client asked for it|does not say so/.test(e.sentence),
  );
  await assert.rejects(
    c.deal(s, { first: 0, runs: SEATS }, { firstTried: Date.now() + 60_000 }),
    (e) => isFault(e) && /before this client asked/.test(e.sentence),
  );
  await assert.rejects(
    d.client({ identity: "somebody" }).commit(newKey(), { table: "u", deck: "standard-52" }),
    (e) => isFault(e) && /and not by somebody/.test(e.sentence),
  );
});

test("a true answer to another request is a fault", async (t) => {
  const d = await daemon(t),
    change = (from, to) =>
      d.client({ fetch: (url, init) => fetch(url, { ...init, body: init.body?.replace(from, to) }) });
  const deck = "standard-52",
    wrong = (sentence) => (e) => isFault(e) && e.sentence.includes(sentence);
  const alone = change(',"mix":{"co_dealer":true}', "");
  await assert.rejects(alone.commit(newKey(), { table: "t", deck, mix: { co_dealer: true } }), wrong("mix plan"));
  // A child that leaves out cards as if others had dealt them, and one after another client did deal on.
  const fewer = change('"parent":{', '"parent":{"positions":[50,51],');
  for (const [table, c] of [["v", fewer], ["w", d.client()]]) {
    const s = await c.commit(newKey(), { table, deck }),
      replica = d.client();
    await c.deal(s, { first: 0, runs: SEATS });
    await replica.deal(await replica.load(s.id), { first: 3, runs: BOARD });
    const child = c.child(newKey(), s, { table });
    if (c === fewer) await assert.rejects(child, wrong("of other cards of it"));
    else assert.equal((await child).places, 46);
  }
  const long = d.client({ fetch: async () => new Response(`data: ${" ".repeat(60_000)}\n`.repeat(3)) });
  await assert.rejects(long.events().next(), wrong("too long"));
});

test("a program that starts again goes on where the hand is", async (t) => {
  const d = await daemon(t),
    file = path.join(d.data, "client.state"),
    c = d.client({ state: fileState(file) }),
    key = newKey();
  const s = await c.commit(key, { table: "t", deck: "standard-52" }),
    { next } = await c.deal(s, { first: 0, runs: SEATS });
  const other = d.client({ state: fileState(file) }),
    again = await other.loadAt("t");
  assert.deepEqual(
    [again.id, again.next(), again.dealt().map((x) => x.card)],
    [s.id, next, s.dealt().map((x) => x.card)],
  );
  assert.equal((await other.commit(key, { table: "t", deck: "standard-52" })).id, s.id);
  await other.deal(again, { first: again.next(), runs: BOARD });
  await other.check();
});

test("a ledger that was put back to an older state is a fork", async (t) => {
  const d = await daemon(t),
    file = path.join(d.data, "..", "kept.state");
  const c = d.client({ state: fileState(file) });
  await c.commit(newKey(), { table: "t", deck: "standard-52" });
  await d.stop();
  const copy = `${d.data}-copy`;
  execFileSync("cp", ["-a", d.data, copy]);
  const first = await start(t, d.data),
    late = first.client({ state: fileState(file) });
  const commits = (...tables) => tables.map((table) => ({ key: newKey(), shuffle: { table, deck: "standard-52" } }));
  await late.batch(commits("a", "b", "c", "d")); // under one checkpoint, so that no size between is known
  await first.stop();
  const back = await start(t, copy),
    forked = (e) => isFault(e) && e.other !== undefined;
  const again = () => back.client({ state: fileState(file), attempts: 2 });
  await assert.rejects(again().commit(newKey(), { table: "e", deck: "standard-52" }), forked);
  await assert.rejects(again().batch(commits("f", "g")), forked);
  await assert.rejects(again().commit(newKey(), { table: "h", deck: "standard-52" }), (e) =>
    forked(e) && /different roots/.test(e.sentence));
});

test("tiles that a daemon does not have yet are asked for again, and lost ones are a fault", async (t) => {
  const d = await daemon(t),
    none = JSON.stringify({ type: "about:blank", title: "none", status: 404, code: "not_found" });
  let lost = 3;
  const c = d.client({
    attempts: 3,
    fetch: async (url, init) =>
      url.includes("/tile/") && lost-- > 0
        ? new Response(none, { status: 404, headers: { "Content-Type": "application/problem+json" } })
        : fetch(url, init),
  });
  for (const table of ["a", "b"]) await c.commit(newKey(), { table, deck: "standard-52" });
  await assert.rejects(c.check(), (e) => isFault(e) && e.answer !== e.other && e.other && /lacks tiles/.test(e.sentence));
  lost = 2;
  await c.check();
});

test("a call that only reads also proves the checkpoints when many wait", async (t) => {
  const d = await daemon(t),
    liar = new Liar(),
    c = d.client({ fetch: liar.fetch });
  const { id } = await c.commit(newKey(), { table: "a", deck: "standard-52" });
  await c.commit(newKey(), { table: "b", deck: "standard-52" });
  const tiles = () => liar.calls.some((call) => call.path.includes("/tile/"));
  await c.receipt(id);
  assert.ok(!tiles());
  Object.defineProperty(c.ledger.log, "waits", { value: true });
  await c.receipt(id);
  assert.ok(tiles());
});

test("what was done and could not be proved is unknown, and the same call proves it", async (t) => {
  const d = await daemon(t),
    deck = "standard-52",
    again = { firstTried: Date.now() },
    SPIN = [{ count: 1, purpose: "board", public: true }];
  let refused = "",
    full = false;
  const state = { load: async () => null, save: async () => { if (full) throw new Error("the disk is full"); } };
  const c = d.client({
    state,
    fetch: (url, init) => (refused && url.includes(refused) ? new Response("no", { status: 403 }) : fetch(url, init)),
  });
  const parent = await c.commit("p", { table: "p", deck }),
    terms = await c.putTerms({ kind: "wheel", labels: ["a", "b"].map((label) => ({ label, weight: 1 })) }),
    spin = await c.draws("w", { table: "w", ranges: [2], terms });
  const calls = {
    "/receipt": () => c.child("c", parent, { table: "p" }, again),
    "/terms/": () =>
      c.batch([{ key: "first", shuffle: { table: "b", deck } }, { of: spin, deal: { first: 0, runs: SPIN } }], again),
    full: () => c.commit("f", { table: "f", deck }, again),
  };
  for (const [what, call] of Object.entries(calls)) {
    if (what === "full") full = true;
    else refused = what;
    let failed;
    await assert.rejects(call(), (e) => (failed = e).unknown === true && !isFault(e), what);
    if (what === "/terms/") assert.deepEqual([failed.done[0].shuffle.table, failed.done[1]], ["b", {}]);
    [refused, full] = ["", false];
    await call();
  }
});

test("a list has what was asked for, and nothing that contradicts itself", async (t) => {
  const d = await daemon(t),
    liar = new Liar(),
    c = d.client({ fetch: liar.fetch });
  const s = await c.commit(newKey(), { table: "t", deck: "standard-52" });
  const at = (ms) => new Date(s.committedAt.getTime() + ms).toISOString();
  const found = async (params) => {
    for await (const one of c.shuffles(params)) return one.id;
  };
  const asked = { state: "open", from: at(0), to: at(1) };
  assert.equal(await found(asked), s.id);
  const change = (more) =>
    liar.tell("/shuffles", (text) => {
      const list = JSON.parse(text);
      return JSON.stringify({ ...list, shuffles: list.shuffles.map((one) => ({ ...one, ...more })) });
    });
  for (const more of [
    { state: "closed", closed_at: at(9), outcome: "completed" },
    { committed_at: at(-1) },
    { committed_at: at(1) },
    { closed_at: at(9) },
    { outcome: "completed" },
    { reason: "misdeal" },
    { id: "x" },
  ]) {
    change(more);
    await assert.rejects(found(asked), isFault, JSON.stringify(more));
  }
  change({ state: "continued", closed_at: at(9), outcome: "completed" });
  await assert.rejects(found({}), isFault);
  change({ state: "continued", closed_at: at(9), outcome: "continued" });
  assert.equal(await found({}), s.id);
});
