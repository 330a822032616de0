// Tests of the client with the real daemon.
import assert from "node:assert/strict";
import test from "node:test";
import { daemon } from "./daemon.mjs";
import { Liar } from "./liar.mjs";
import { Client, ShuffledError, isFault, newKey, newSlot, roulette, verify } from "../dist/index.js";

const SEATS = [
  { count: 2, purpose: "seat", recipient: "seat-1" },
  { count: 2, purpose: "seat", recipient: "seat-2" },
];
const FLOP = [
  { count: 1, purpose: "burn" },
  { count: 3, purpose: "board", public: true },
];

test("a hand, from its commit to its transcript", async (t) => {
  const d = await daemon(t),
    c = d.client({ vkey: `${d.vkey}\n` }); // as it stands in a file
  const hand = await c.commit(newKey(), { table: "poker-1", deck: "standard-52" });
  const first = await c.deal(hand, { first: 0, runs: SEATS });
  assert.equal(first.cards.length, 4);
  const flop = await c.deal(hand, { first: first.next, runs: FLOP });
  assert.deepEqual([flop.cards.length, flop.unopened.length], [3, 1]);
  assert.equal(hand.next(), 8);
  assert.deepEqual(
    hand.dealt().map((x) => x.recipient ?? "board"),
    ["seat-1", "seat-1", "seat-2", "seat-2", "board", "board", "board"],
  );
  const shown = await c.reveal(hand, { places: [0, 1] });
  assert.deepEqual(shown.places, [0, 1]);
  const ending = await c.close(hand, { outcome: "completed" });
  assert.ok(ending.tape);
  const v = await verify(await c.transcript(hand.id), { vkey: d.vkey });
  assert.deepEqual([v.verdict, v.level, v.state], ["proved", "recorded", "closed"]);
  assert.equal((await c.state(hand.id)).state, "closed");
  await c.check();
});

test("a mix of slots and a cut, draws, numbers, and a child", async (t) => {
  const d = await daemon(t),
    c = d.client();
  const slot = newSlot(c.origin, "t");
  const s = await c.commit(newKey(), { table: "t", deck: "shoe-2", mix: { slots: [slot.hash], cut: true } });
  await c.mix(s, { slots: [slot.value], cut: 17 });
  await c.deal(s, { first: 0, runs: SEATS });
  const child = await c.child(newKey(), s, { table: "t", parent: { id: s.id, positions: s.positions(0, 1, 2, 3) } });
  await c.deal(child, { first: 0, runs: SEATS });
  await c.close(child, { outcome: "completed" });
  const die = newSlot(c.origin, "dice"),
    dice = await c.draws(newKey(), { table: "dice", ranges: [6, 6, 6], mix: { slots: [die.hash] } });
  await c.mix(dice, { slots: [die.value] });
  const thrown = await c.deal(dice, {
    first: 0,
    runs: [{ count: 3, purpose: "board", public: true }],
    close: { outcome: "completed" },
  });
  assert.ok(thrown.shows.every((x) => x >= 1 && x <= 6) && thrown.close.tape);
  const wheel = await c.draws(newKey(), {
    table: "wheel",
    wheel: [
      { label: "win", weight: 1 },
      { label: "lose", weight: 3 },
    ],
  });
  assert.match(
    (await c.deal(wheel, { first: 0, runs: [{ count: 1, purpose: "board", public: true }] })).cards[0].card,
    /^(win|lose)$/,
  );
  const ball = await c.draws(newKey(), { table: "roulette", wheel: roulette("0", "00") });
  const lies = (await c.deal(ball, { first: 0, runs: [{ count: 1, purpose: "board", public: true }] })).cards[0].card;
  assert.ok(["0", "00", ...Array.from({ length: 36 }, (_, i) => `${i + 1}`)].includes(lies), lies);
  const terms = await c.putTerms({ kind: "wheel", labels: roulette("0") }); // for a spin that a mix moves
  const spin = newSlot(c.origin, "roulette"),
    mixed = await c.draws(newKey(), { table: "roulette", ranges: [37], terms, mix: { slots: [spin.hash] } });
  await c.mix(mixed, { slots: [spin.value] });
  const told = await c.deal(mixed, { first: 0, runs: [{ count: 1, purpose: "board", public: true }] });
  assert.equal(told.labels[0], `${told.shows[0] - 1}`);
  const keno = await c.draws(newKey(), { table: "keno", numbers: { of: 80, take: 20 } });
  const drawn = await c.deal(keno, { first: 0, runs: [{ count: 20, purpose: "board", public: true }] });
  assert.equal(new Set(drawn.shows).size, 20);
  await c.close(keno, { outcome: "completed" });
});

test("a refusal is one class, with code, status and sentence", async (t) => {
  const d = await daemon(t),
    c = d.client();
  const e = await c.commit(newKey(), { table: "t", deck: "standard-53" }).then(
    () => null,
    (e) => e,
  );
  assert.ok(e instanceof ShuffledError);
  assert.deepEqual([e.code, e.status, e.field, e.unknown], ["invalid_request", 422, "deck", false]);
  assert.match(e.sentence, /^"deck" must be one of the published decks/);
});

test("a batch, the list, and the events of it", async (t) => {
  const d = await daemon(t),
    c = d.client();
  const one = await c.commit(newKey(), { table: "one", deck: "standard-52" });
  const done = await c.batch([
    { key: newKey(), shuffle: { table: "two", deck: "short-36" } },
    { from: 0, deal: { first: 0, runs: SEATS } },
    { from: 0, close: { outcome: "completed" } },
    { of: one, deal: { first: 5, runs: SEATS } },
    { of: one, deal: { first: 0, runs: SEATS } },
  ]);
  assert.deepEqual([done[0].shuffle.next(), done[1].deal.cards.length, typeof done[2].close.tape], [4, 4, "string"]);
  assert.ok(done[3].error instanceof ShuffledError && done[4].deal.next === 4);
  const ids = [];
  for await (const s of c.shuffles({ limit: 1 })) ids.push(s.id);
  assert.deepEqual(ids, [one.id, done[0].shuffle.id]);
  const found = [];
  for await (const s of c.shuffles({ deck: "short-36", outcome: "completed" })) found.push([s.id, s.owner !== ""]);
  assert.deepEqual(found, [[done[0].shuffle.id, true]]);
  const told = [];
  for await (const e of c.events({ after: one.id - 1 })) {
    told.push(e.type);
    if (e.type === "closed") break;
  }
  assert.deepEqual(told.slice(0, 2), ["committed", "committed"]);
});

test("terms, of which the client makes the hash itself", async (t) => {
  const d = await daemon(t),
    liar = new Liar(),
    c = d.client({ fetch: liar.fetch });
  const wheel = { kind: "wheel", labels: ["a", "b"].map((label) => ({ label, weight: 2 })) };
  const terms = await c.putTerms(wheel),
    spin = await c.draws(newKey(), { table: "wheel", ranges: [4], terms });
  const won = await c.deal(spin, { first: 0, runs: [{ count: 1, purpose: "board", public: true }] });
  assert.deepEqual(won.labels, [won.shows[0] <= 2 ? "a" : "b"]);
  const other = await c.putTerms({ kind: "pay_table", text: "two of a kind: 1\n" });
  liar.tell("/terms", () => JSON.stringify(other));
  await assert.rejects(c.putTerms(wheel), isFault);
  liar.tell("/terms", () => JSON.stringify({ ...terms, hash: other.hash }));
  await assert.rejects(c.putTerms(wheel), isFault);
  // Weights that write the same bytes as those of the wheel change no label.
  const last = await c.draws(newKey(), { table: "wheel", ranges: [4], terms }),
    forged = wheel.labels.map((x, i) => ({ ...x, weight: x.weight - (i === 0 ? 2 ** 32 : 0) })),
    fresh = d.client({ fetch: liar.fetch });
  liar.tell(Buffer.from(terms.hash, "base64").toString("hex"), () => JSON.stringify({ ...wheel, labels: forged }));
  const again = await fresh.load(last.id),
    value = await fresh.deal(again, { first: 0, runs: [{ count: 1, purpose: "board", public: true }] });
  assert.deepEqual(value.labels, [value.shows[0] <= 2 ? "a" : "b"]);
});
