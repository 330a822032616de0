// Tests of the owner of a shuffle, of takeovers, and of the rules that a genesis alone can
// break (docs/SPEC.md sections 9 and 10), on the files of a small house: node --test web/
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import * as house from "./house.mjs";
import { DEALER, ORIGIN, deckOf, game } from "./house.mjs";
import { load } from "./verify.mjs";

const shuffled = load();
const key = await house.newKey(ORIGIN);
const judge = (file, trust = { vkey: key.vkey }) => shuffled.judge(file, trust);
const failedAt = (v) => v.steps.find((s) => s.result === "failed");
const cards = { deck: deckOf(6), m: 6 }, slot = { ...cards, slots: 1 };

// broken plays a game, and returns the rule of section 9 that it breaks.
async function broken(recipe, cheat) {
  const { verdict } = await judge(await game(key, recipe, cheat)), step = failedAt(verdict);
  if (!step) return undefined;
  assert.equal(step.name, "legality", step.detail);
  return /^(\w+): /.exec(step.detail)[1];
}

const OTHER = { by: "casino-2" }, THIRD = { by: "casino-3" };
const over = (o) => ({ takeover: o });
const deal = (o) => ({ cards: 2, ...o });
const last = (o) => ({ cards: 2, final: 1, ...o });
const LATE = house.T + 60000;

test("the rule owner, and what is in front of it", async () => {
  for (const [what, rule, recipe, cheat] of [
    ["a commit alone", undefined, cards, { undealt: true, open: true }],
    ["a commit by the daemon", "owner", cards, { undealt: true, open: true, commit: { by: "daemon" } }],
    ["a commit by the operator", "owner", cards, { undealt: true, open: true, commit: { by: "operator" } }],
    ["a commit by another identity than the rest", "owner", cards, { commit: OTHER }],
    ["a mix by another", "owner", slot, { mix: OTHER }],
    ["a deal by another", "owner", { ...cards, deals: [deal(), deal(OTHER), last()] }],
    ["a deal by the daemon", "owner", { ...cards, deals: [deal({ by: "daemon" }), deal(), last()] }],
    ["another credential of the owner", undefined, { ...cards, deals: [deal(), deal({ by: DEALER, credential: "token-2" }), last()] }],
    ["a close by another", "owner", cards, { close: OTHER }],
    ["a close by the daemon", "owner", cards, { close: { by: "daemon" } }],
    ["void by the operator", "owner", { ...cards, deals: [deal()] }, { close: { by: "operator", outcome: 4, reason: 1 } }],
    ["expired by the daemon", undefined, { ...cards, deals: [deal()] }, { close: { by: "daemon", outcome: 5, time: LATE } }],
    ["expired by the operator", undefined, { ...cards, deals: [deal()] }, { close: { by: "operator", outcome: 5, time: LATE } }],
    ["expired by the owner", undefined, { ...cards, deals: [deal()] }, { close: { outcome: 5, time: LATE } }],
    ["expired by another", "owner", { ...cards, deals: [deal()] }, { close: { ...OTHER, outcome: 5, time: LATE } }],
    ["a deal by another, too late", "deadline", { ...cards, deals: [deal({ ...OTHER, time: LATE }), last({ cards: 4, time: LATE })] }, { close: { time: LATE, outcome: 5 } }],
    ["a close by another, expired too early", "owner", cards, { close: { ...OTHER, outcome: 5 } }],
    ["a deal by another at a wrong place", "owner", { ...cards, deals: [deal(), deal({ ...OTHER, first: 3 }), last()] }],
  ]) assert.equal(await broken(recipe, cheat), rule, what);
});

test("tape_lost is anybody's to say", async () => {
  for (const by of [{}, OTHER, { by: "daemon" }, { by: "operator" }]) {
    const { verdict } = await judge(await game(key, { ...cards, deals: [deal()] }, { close: { ...by, outcome: 4, reason: 10, form: 0 } }));
    assert.equal(verdict.failed, "tape", failedAt(verdict).detail);
  }
});

test("takeovers, to play and to close", async () => {
  const done = { close: OTHER }, ends = { close: { ...OTHER, outcome: 4, reason: 6 } };
  for (const [what, rule, recipe, cheat] of [
    ["to play, and dealt on", undefined, { ...cards, deals: [deal(), over({}), deal(OTHER), last(OTHER)] }, done],
    ["to play, before the mix", undefined, { ...slot, unmixed: [{}], deals: [last({ ...OTHER, cards: 6 })] }, { mix: OTHER, ...done }],
    ["to play, and the earlier owner deals", "owner", { ...cards, deals: [deal(), over({}), deal(), last(OTHER)] }, done],
    ["to play, and the earlier owner closes", "owner", { ...cards, deals: [deal(), over({})] }],
    ["to close, and closed", undefined, { ...cards, deals: [deal(), over({ extent: 1 })] }, ends],
    ["to close, and dealt on", "owner", { ...cards, deals: [deal(), over({ extent: 1 }), last({ ...OTHER, cards: 4 })] }, done],
    ["to close, and mixed", "owner", { ...slot, unmixed: [{ extent: 1 }], deals: [] }, { mix: OTHER, ...ends }],
    ["by the daemon", "owner", { ...cards, deals: [deal(), over({ by: "daemon" })] }, { close: { by: "daemon" } }],
    ["by the operator", "owner", { ...cards, deals: [deal(), over({ by: "operator", extent: 1 })] }, { close: { by: "operator" } }],
    ["by its owner, to play", "owner", { ...cards, deals: [deal(), over({ by: DEALER })] }],
    ["by its owner, to close", "owner", { ...cards, deals: [deal(), over({ by: DEALER, extent: 1 })] }],
    ["to close, then to play", undefined, { ...cards, deals: [deal(), over({ extent: 1 }), over({}), last({ ...OTHER, cards: 4 })] }, done],
    ["to close, twice", "owner", { ...cards, deals: [deal(), over({ extent: 1 }), over({ extent: 1 })] }, ends],
    ["to play, back again", undefined, { ...cards, deals: [deal(), over({}), over({ by: DEALER }), last({ cards: 4 })] }],
    ["to play, by a third from one that only closes", undefined, { ...cards, deals: [deal(), over({ extent: 1 }), over(THIRD), last({ ...THIRD, cards: 4 })] }, { close: THIRD }],
    ["after the time to close", undefined, { ...cards, deals: [deal(), over({ time: LATE })] }, { close: { ...OTHER, outcome: 5, time: LATE } }],
    ["between a final deal and its close", "pair", { ...cards, deals: [deal({ cards: 6, final: 1 }), over({})] }, done],
    ["right before a continued close", "pair", { ...cards, deals: [deal(), over({})] }, { close: { ...OTHER, outcome: 3 } }],
    ["older than the entry before", "time", { ...cards, deals: [deal(), over({ time: house.T - 1 })] }, done],
    ["of a shuffle that is open", undefined, { ...cards, deals: [deal(), over({})] }, { open: true }],
  ]) assert.equal(await broken(recipe, cheat), rule, what);
  const times = (n) => Array.from({ length: n }, (_, i) => over(i % 2 ? { by: DEALER } : OTHER));
  assert.equal(await broken({ ...cards, deals: [deal(), ...times(16), last({ cards: 4 })] }), undefined);
  assert.equal(await broken({ ...cards, deals: [deal(), ...times(17), last({ ...OTHER, cards: 4 })] }, done), "owner");
});

test("takeovers stand among the receipts, in front of the close, and name this shuffle", async () => {
  const failed = async (recipe, cheat) => (await judge(await game(key, recipe, cheat))).verdict.failed;
  assert.equal(await failed({ ...cards, deals: [deal(), over({ shuffle: 1 })] }, { close: OTHER }), "entries");
  assert.equal(await failed({ ...slot, deals: [] }, { behind: [{}] }), "entries");
  assert.equal(await failed({ ...cards, deals: [deal(), over({ type: 200 })] }), "entries", "an entry that is passed over belongs to no shuffle");
});

test("a transcript has at most 8,213 receipts", () => {
  const { Canonical, Malformed, readForm } = shuffled.parts;
  const read = (n) => readForm(new Canonical(new TextEncoder().encode(JSON.stringify({ format: "shuffled/v1/transcript", id: 2, checkpoint: "c", receipts: Array(n).fill("a"), cards: [] }))));
  assert.equal(read(8213).receipts.length, 8213);
  assert.throws(() => read(8214), Malformed);
});

test("a verdict names the owner and every takeover", async () => {
  const file = await game(key, { ...cards, deals: [over({ reason: "before it began" }), deal(OTHER), deal(OTHER), over({ ...THIRD, credential: "tok-3", extent: 1, time: house.T + 1500 })] },
    { close: { ...THIRD, outcome: 4, reason: 6, time: house.T + 2000 } });
  const { verdict: v, story } = await judge(file);
  assert.deepEqual([v.verdict, v.owner, v.passed_over], ["proved", DEALER, undefined]);
  assert.deepEqual(v.takeovers, [
    { index: 3, time: "2026-09-21T14:13:20.000Z", identity: "casino-2", credential: "casino-2", from: DEALER, place: 0, extent: "play", reason: "before it began" },
    { index: 6, time: "2026-09-21T14:13:21.500Z", identity: "casino-3", credential: "tok-3", from: "casino-2", place: 4, extent: "close", reason: "casino-1 does not answer" },
  ]);
  assert.deepEqual(story.dealers, [{ identity: "casino-2", first: 0, last: 3 }]);
  const plain = (await judge(await game(key, cards))).verdict;
  assert.deepEqual([plain.owner, plain.takeovers], [DEALER, undefined]);
});

// --------------------------------------------------------- passing over, 1.4

test("a transcript holds whatever is passed over in it, and says how much that is", async () => {
  const value = new Uint8Array(3);
  const { verdict: v } = await judge(await game(key, { ...cards, deals: [deal({ purpose: 200, extensions: [[129, value], [240, value]] }), deal({ purpose: 200 })], extensions: [[130, value]] },
    { genesis: { extensions: [[128, value]] }, close: { outcome: 4, reason: 250 } }));
  assert.deepEqual([v.verdict, v.reason, v.cards[0].purpose, v.cards.length], ["proved", "unknown(250)", "unknown(200)", 4]);
  assert.deepEqual(v.passed_over, [
    { list: "context_extension", code: 130, count: 1, first: 2 }, { list: "deal_extension", code: 129, count: 1, first: 3 },
    { list: "deal_extension", code: 240, count: 1, first: 3 }, { list: "genesis_extension", code: 128, count: 1, first: 0 },
    { list: "purpose", code: 200, count: 2, first: 3 }, { list: "reason", code: 250, count: 1, first: 5 }]);
  for (const cheat of [{ genesis: { extensions: [[1, value]] } }, { deal: () => ({ purpose: 99 }) }, { genesis: { revision: 2 } }])
    assert.equal((await judge(await game(key, cards, cheat))).verdict.verdict, "cannot judge");
});

test("verify.mjs prints takeovers, and what it passed over", async (t) => {
  const dir = mkdtempSync(path.join(tmpdir(), "owner-")), file = path.join(dir, "file.json");
  t.after(() => rmSync(dir, { recursive: true }));
  const run = async (...of) => {
    writeFileSync(file, await game(key, ...of));
    return execFileSync(process.execPath, [fileURLToPath(new URL("verify.mjs", import.meta.url)), "--key", key.vkey, file], { encoding: "utf8" });
  };
  const told = await run({ ...cards, deals: [deal(), over({ reason: "gone" })], extensions: [[200, new Uint8Array(1)]] }, { open: true });
  assert.match(told, /^taken over at place 2, to play: by casino-2 from casino-1\. The house says: gone$/m);
  assert.match(told, /^passed over, for it changes nothing that is checked: 1 of code 200 in the list context_extension, first in entry 2$/m);
  assert.doesNotMatch(await run(cards), /over/);
});

// ------------------------------------------------- what a genesis can break, 9

test("a genesis's administrators", async () => {
  const [ann, bob] = await Promise.all(["ann", "bob"].map(house.newKey));
  const weak = { name: "cat", typed: new Uint8Array(33).fill(1, 0, 2) };
  const two = { administrators: [ann, bob], twoPersons: [8, 9, 10, 11, 13] }, production = { production: 1 };
  for (const [what, rule, genesis] of [
    ["none, and nothing for two", undefined, {}],
    ["two, and everything for two", undefined, two],
    ["one, and something for two", "administrators", { administrators: [ann], twoPersons: [6] }],
    ["none, and something for two", "administrators", { twoPersons: [12] }],
    ["one, and nothing for two", undefined, { administrators: [ann] }],
    ["production, and two for all it must", undefined, { ...production, ...two }],
    ["production, and two for more", undefined, { ...production, ...two, twoPersons: [5, 6, 7, 8, 9, 10, 11, 12, 13] }],
    ["production, and nothing for two", "administrators", { ...production, administrators: [ann, bob] }],
    ["production, and two for less", "administrators", { ...production, ...two, twoPersons: [8, 9, 10, 11, 12] }],
    ["a weak key of an administrator", "key", { administrators: [ann, weak] }],
    ["a weak key, and one administrator", "key", { administrators: [weak], twoPersons: [6] }],
  ]) assert.equal(await broken(cards, { genesis, context: { production: genesis.production ?? 0 } }), rule, what);
});
