// Tests of verify.html, opened from disk.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { HERE, PAGE, inBrowser, vector } from "./browser.mjs";
import * as house from "./house.mjs";
import { deckOf, game } from "./house.mjs";
import { load } from "./verify.mjs";

const status = (browser) => browser.run("document.getElementById('status').textContent");

// judge gives the page what to trust, the value of a slot if there is one, and a file.
async function judge(browser, name, { file, trust, slot }) {
  await browser.open(PAGE);
  await browser.paste("trust", trust.vkey ?? trust.policy ?? "");
  if (slot) await browser.paste("slot", slot);
  return browser.judged(() => browser.drop(`${name}.json`, file));
}

inBrowser("the page from disk", async (t, browser, dir) => {
  const write = (name, data) => { const f = path.join(dir, name); writeFileSync(f, data); return f; };
  const good = vector("good", "standard-52"), bad = vector("bad", "card-value-and-name");
  const key = write("main.vkey", `${good.trust.vkey}\n`);

  await t.test("a file and a key, chosen together", async () => {
    await browser.open(PAGE);
    await browser.shots("start");
    const r = await browser.judged(() => browser.choose(write("good.json", good.file), key));
    assert.equal(r.title, "Proved");
    assert.equal(r.focus, "result-title");
    assert.deepEqual([r.json.verdict, r.json.level], ["proved", "recorded"]);
    assert.equal(r.steps.length, 18);
    assert.equal(r.steps.filter((s) => s === "ok").length, 11);
    assert.equal(r.cards.length, r.json.cards.length);
    assert.match(r.cards.find((said) => said.endsWith(" 0")), /^(ace|two|three|four|five|six|seven|eight|nine|ten|jack|queen|king) of (spades|hearts|diamonds|clubs), place 0$/);
    await browser.shots("good");
    await browser.piece("verify-page", ".verdict", ".behind"); // docs/verify-page.png
  });

  await t.test("without JavaScript the page says in each language what to do, and shows no form", async () => {
    await browser.send("Emulation.setScriptExecutionDisabled", { value: true });
    await browser.open(PAGE);
    const told = await browser.run(`[...document.querySelectorAll("noscript p")].filter((p) => p.checkVisibility() && p.innerText.includes("shuffled verify")).map((p) => p.lang)`);
    assert.deepEqual(told, ["en", "de", "es", "ar"]);
    assert.equal(await browser.run(`document.querySelector("form").checkVisibility() || document.querySelector("#language").checkVisibility()`), false);
    await browser.send("Emulation.setScriptExecutionDisabled", { value: false });
  });

  await t.test("a tampered file, dropped", async () => {
    await browser.open(PAGE);
    await browser.paste("trust", bad.trust.vkey);
    const r = await browser.judged(() => browser.drop("tampered.json", bad.file));
    assert.equal(r.json.failed, "openings");
    assert.match(r.text, /step 12 of 18, openings/);
    assert.match(r.text, /Rely on nothing that this file says\. Keep this file as it is\. Get the evidence once more/);
    assert.match(r.text, /What the file says: do not rely on it/);
    assert.deepEqual(r.cards, []);
    assert.doesNotMatch(r.text, /Level reached/);
    await browser.shots("tampered");
  });

  await t.test("a board of five stands in one row on a phone", async () => {
    const key = await house.newKey(house.ORIGIN), deals = [{ cards: 2, recipient: "seat-1" }, { cards: 5, purpose: 2, recipient: "" }];
    await judge(browser, "board", { file: await game(key, { deck: deckOf(52).map((_, i) => "23456789TJQKA"[i % 13] + "shdc"[i / 13 | 0]), m: 52, deals }), trust: { vkey: key.vkey } });
    await browser.size(390);
    const rows = await browser.run(`[...document.querySelectorAll(".board .cards li")].map((li) => li.offsetTop)`);
    assert.deepEqual([rows.length, new Set(rows).size], [5, 1]);
    await browser.size(1200);
  });

  await t.test("a key that was copied in part is the reader's to mend, and no fault of the file", async () => {
    for (const trust of [good.trust.vkey.slice(0, -3), good.trust.vkey.split("+")[0]]) {
      const r = await judge(browser, "standard-52", { file: good.file, trust: { vkey: trust } });
      assert.equal(r.json.verdict, "cannot judge");
      assert.match(r.text, /What stands under “Whom you trust” cannot be read, so nothing was checked: .*Copy all of it/);
      assert.doesNotMatch(r.text, /accusation/);
      await browser.run(`[...document.querySelectorAll("#result button")].find((b) => b.textContent === "Give a key").click()`);
      assert.equal(await browser.run("document.activeElement.id"), "trust");
    }
    await browser.shots("key-cut");
  });

  await t.test("an unreadable file", async () => {
    await browser.open(PAGE);
    const r = await browser.judged(() => browser.choose(write("holiday.bin", Uint8Array.from({ length: 5000 }, (_, i) => i * 7 + (i >> 3)))));
    assert.equal(r.json.failed, "format");
    assert.match(r.text, /no intact transcript or receipt/);
    await browser.shots("unreadable");
    await browser.open(PAGE);
    const large = await browser.judged(() => browser.choose(write("film.bin", Buffer.alloc(33 * 2 ** 20, 65))));
    assert.match(large.text, /above 32 MiB/);
    assert.match(large.text, /film\.bin, 34,603,008 bytes/, "the size is that of the file, not of what was read of it");
  });

  await t.test("what a later version wrote, and a receipt, pasted", async () => {
    await browser.open(PAGE);
    const later = await browser.judged(() => browser.paste("text", vector("bad", "unknown-format").file));
    assert.equal(later.json.verdict, "cannot judge");
    await browser.shots("later");
    const receipt = vector("good", "receipt-commit-4");
    const alone = await browser.judged(() => browser.paste("text", `\n${receipt.file}\n`));
    assert.equal(alone.json.verdict, "consistent");
    await browser.shots("receipt");
  });

  await t.test("no text of a file becomes markup", async () => {
    await browser.open(PAGE);
    const custom = vector("good", "custom-deck");
    const r = await browser.judged(() => browser.drop("<img src=x onerror=alert(1)>.json", custom.file));
    assert.equal(r.json.verdict, "consistent");
    assert.ok(r.text.includes("<b>&amp;"));
    assert.equal(await browser.run('document.querySelectorAll("#result b, #result img").length'), 0);
    await browser.shots("custom");
  });

  await t.test("a wheel's labels are shown, as text", async () => {
    const c = vector("good", "terms-wheel"), r = await judge(browser, "terms-wheel", c);
    assert.equal(r.cards.length, 3);
    r.cards.forEach((said, i) => assert.ok(said.startsWith(`${c.want.labels[i]}: `), said));
    assert.match(r.text, /<b>a car<\/b>\s*2 of 6/);
    assert.equal(await browser.run('document.querySelectorAll("#result b").length'), 0);
    const pays = await judge(browser, "terms-pay-table", vector("good", "terms-pay-table"));
    assert.match(pays.text, /three of a kind: 5/);
    await browser.shots("terms");
  });

  await t.test("a ticket's proof, with the draw of its list and with others", async () => {
    const proofs = JSON.parse(readFileSync(path.join(HERE, "..", "internal", "terms", "testdata", "terms.json"), "utf8")).tickets;
    const c = vector("good", "terms-raffle"), ok = proofs.filter((p) => p.want === "ok" && p.text.includes("count 7\n"));
    assert.ok(ok.length >= 3);
    const give = async (proof, draw) => {
      await browser.open(PAGE);
      await browser.paste("trust", draw.trust.vkey);
      await browser.drop("T.proof", proof.text);
      await browser.until(`document.querySelector("#status").textContent.includes("proof of a ticket is read")`);
      return browser.judged(() => browser.drop("raffle.json", draw.file));
    };
    for (const proof of ok) {
      const number = Number(/number (\d+)/.exec(proof.text)[1]), place = c.want.shows.indexOf(number), r = await give(proof, c);
      assert.equal(r.json.verdict, "proved");
      assert.ok(r.text.includes(`Ticket ${/line (\S+)/.exec(proof.text)[1]} has the number ${number}. ${place < 0 ? "It is not among the 3 numbers that this file shows." : `It was drawn, at place ${place}.`}`), r.text);
      assert.match(r.text, /The house could choose the winner/);
    }
    await browser.shots("ticket");
    const alone = await judge(browser, "raffle", c);
    assert.match(alone.text, /Give the proof of a ticket as well/);
    assert.match((await give(ok[0], vector("good", "terms-tickets"))).text, /is no proof of a ticket of this shuffle: it is of another list of tickets/);
    for (const name of ["another line", "another number", "a leading zero"]) {
      const r = await give(proofs.find((p) => p.name === name), c);
      assert.match(r.text, /T\.proof is no proof of a ticket of this shuffle/, name);
      assert.doesNotMatch(r.text, /has the number/, name);
    }
  });

  await t.test("every kind of shuffle is shown", async () => {
    for (const name of ["draws-mixed", "child", "shoe-2", "cosigned-2-of-3", "tape-lost", "recipient", "witnessed"]) {
      const c = vector("good", name), r = await judge(browser, name, c);
      assert.deepEqual([r.json.verdict, r.json.level], [c.want.verdict, c.want.level], name);
      await browser.shots(name);
    }
  });

  await t.test("by keyboard alone", async () => {
    await browser.open(PAGE);
    const focus = () => browser.run("document.activeElement.id || document.activeElement.type || document.activeElement.tagName");
    const press = async (k, code) => { for (const type of ["keyDown", "keyUp"]) await browser.send("Input.dispatchKeyEvent", { type, key: k, code: k, windowsVirtualKeyCode: code, text: type === "keyDown" && k === "Enter" ? "\r" : undefined }); };
    const seen = [];
    for (let i = 0; i < 7; i++) { await press("Tab", 9); seen.push(await focus()); }
    assert.deepEqual(seen, ["language", "file", "SUMMARY", "trust", "scan", "SUMMARY", "submit"]);
    await press("Enter", 13);
    assert.match(await status(browser), /Choose a file/);
    await browser.run(`document.getElementById("text").value = ${JSON.stringify(good.file)}; document.querySelector("button[type=submit]").focus(); 0`);
    const r = await browser.judged(() => press("Enter", 13));
    assert.equal(r.json.verdict, "consistent");
    assert.equal(r.focus, "result-title");
  });

  await t.test("served, not from disk", async () => {
    const server = createServer((_, response) => response.setHeader("Content-Type", "text/html; charset=utf-8").end(readFileSync(path.join(HERE, "verify.html"))));
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      await browser.open(`http://127.0.0.1:${server.address().port}/`);
      const r = await browser.judged(() => browser.drop("good.json", good.file));
      assert.equal(r.json.verdict, "consistent");
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  await t.test("every control has a name that a screen reader says", async () => {
    const { nodes } = await browser.send("Accessibility.getFullAXTree");
    const named = nodes.filter((n) => !n.ignored && ["textbox", "button", "heading", "DisclosureTriangle"].includes(n.role?.value));
    assert.ok(named.length >= 6);
    for (const n of named) assert.ok(n.name?.value, `a ${n.role.value} without a name`);
  });
});

inBrowser("the page and a player's part", async (t, browser) => {
  const hex = (base64) => Buffer.from(base64, "base64").toString("hex");

  await t.test("a secret value, and for whom the level is", async () => {
    const c = vector("good", "slots"), [second, first] = c.trust.slots;
    for (const [slot, mine] of [[hex(first), "yours among them"], [`value  ${first}  keep it\nhash   ${second}  hand it in`, "yours among them"], [`${first} ${second}`, "yours"]]) {
      const r = await judge(browser, "slots", { ...c, slot });
      assert.deepEqual([r.json.level, r.steps[6]], ["mixed", "ok"]);
      assert.match(r.text, /Level reached: mixed, for you alone/);
      assert.match(r.text, /For you alone: the order hangs on your slot as well, .* gave it to nobody before \d{4}-\d\d-\d\d, \d\d:\d\d:\d\d UTC, and for no other commit/);
      assert.ok(r.text.includes(`moved after it was locked in, by 2 players’ secret values, ${mine}.`), r.text);
    }
    await browser.shots("slots");
  });

  await t.test("a value that is in no plan, and one that is none", async () => {
    const c = vector("bad", "slot-left-out"), r = await judge(browser, "left-out", { ...c, slot: c.trust.slots[0] });
    assert.equal(r.json.failed, "slots");
    assert.match(r.text, /Your secret value is not part of this shuffle’s plan/);
    await browser.shots("slot-left-out");
    await browser.paste("slot", "abc");
    await browser.run(`document.querySelector("button[type=submit]").click(), 0`);
    await browser.until(`document.querySelector("#status").textContent.includes("64 hexadecimal digits")`);
    assert.deepEqual(await browser.run(`[document.querySelector("#result").hidden, document.querySelector("#slot").getAttribute("aria-invalid"), document.activeElement.id]`), [true, "true", "slot"]);
    await browser.shots("slot-none");
  });

  await t.test("a receipt, before the value is handed in", async () => {
    const origin = house.ORIGIN, key = await house.newKey(origin), witness = await house.newWitness("w.example"), value = new Uint8Array(32).fill(9);
    const s = await house.shuffleOf(house.context({ origin, deck: deckOf(6), m: 6, plan: [{ source: 1, hash: load().parts.slotHash(origin, "table-1", value) }] }), () => 1);
    const [file] = await house.receipts(origin, [key, witness.at(5n)], [house.genesis(key), house.start(), house.commit(s)], [2]);
    const slot = Buffer.from(value).toString("hex"), policy = `log ${key.vkey}\nwitness w ${witness.vkey}\nquorum w\n`;
    const seen = await judge(browser, "receipt", { file, trust: { policy }, slot });
    assert.deepEqual([seen.json.verdict, seen.json.level], ["proved", "witnessed"]);
    assert.match(seen.text, /promised in this commit, and the witnesses saw the commit\. Now the value can be handed in/);
    await browser.shots("slot-receipt");
    const alone = await judge(browser, "receipt", { file, trust: { vkey: key.vkey }, slot });
    assert.match(alone.text, /Hand it in when the receipt shows that the witnesses you trust saw the commit, not before/);
    assert.doesNotMatch((await judge(browser, "receipt", { file, trust: { policy } })).text, /promised in this commit/);
  });

  await t.test("an auditor’s statement, believed and not", async () => {
    const c = vector("good", "stated");
    await browser.open(PAGE);
    await browser.paste("auditors", `${c.trust.auditors.join("\n")}\n`);
    await browser.paste("trust", c.trust.vkey);
    const seen = await browser.judged(() => browser.paste("text", c.file));
    assert.deepEqual([seen.json.verdict, seen.steps.at(-1)], ["proved", "ok"]);
    assert.match(seen.text, /Stated under a key that you trust, by lab\.example\/shuffles, after opening the random bytes .*: .* the deck held each card once/);
    const alone = await judge(browser, "stated", vector("good", "stated-nobody-trusted"));
    assert.equal(alone.steps.at(-1), "not-checked");
    assert.match(alone.text, /It does not prove: That the deck held each card once, .*: this file does not show it/);
    assert.match(alone.text, /lab\.example\/shuffles, who is not trusted: it gives nothing/);
  });

  await t.test("a hand of a co-dealer: what moved it, how it ended, and whether it was looked at and ended", async () => {
    for (const [name, title, ...says] of [
      ["blind-closed", "Proved", "lab.example.org/orders has an order of the places"],
      ["blind-open", "Proved", "lab.example.org/orders has an order of the places"],
      ["blind-silent", "A void hand", "It does not prove: That the co-dealer opened no more places", ", void, the co-dealer gave no valid answer", "Proved. "],
      ["blind-looked", "Opened and not dealt on", "than were dealt, or are named by the close: 3 more.", "Proved. "]]) {
      const { file, trust } = vector("good", name);
      await browser.open(PAGE);
      await browser.paste("trust", trust.vkey);
      await browser.paste("co-dealer", trust.co_dealer);
      const r = await browser.judged(() => browser.drop(`${name}.json`, file));
      assert.equal(r.title, title, name);
      assert.equal(await browser.run(`document.querySelector(".verdict").classList.contains("proved")`), title === "Proved", name);
      for (const text of says) assert.ok(r.text.includes(text), `${name}: no ${text} in ${r.text}`);
      assert.doesNotMatch(r.text, /moved by \.|does not know/, name);
    }
  });

  await t.test("why it is not mixed here", async () => {
    for (const [name, why] of [
      ["witnessed", /the house’s random bytes alone made the order/],
      ["beacon-same-second", /did not see the shuffle fixed before the beacon’s round came out/],
      ["beacon-of-unknown-chain", /this page does not know the public beacon of the plan/],
      ["slots-of-others", /give yours below\. To everybody else these values may be the house’s own/],
      ["beacon-unmixed", /are still to come/],
      ["beacon-and-cut", /the cut could be chosen/],
      ["slot-take-4-of-6", /which 4 of the 6 cards are in it/],
      ["beacon-child", /its parent’s order/],
    ]) {
      const r = await judge(browser, name, vector("good", name));
      assert.equal(r.json.level, "witnessed", name);
      assert.match(r.text, why, name);
    }
  });

  await t.test("a public beacon, whose curve only a file with one evaluates", async () => {
    await browser.send("Profiler.enable");
    await browser.send("Profiler.startPreciseCoverage", { callCount: true });
    const evaluated = async () => (await browser.send("Profiler.takePreciseCoverage")).result.flatMap((script) => script.functions)
      .some((f) => f.functionName === "node_modules/@noble/curves/bls12-381.js" && f.ranges[0].count > 0);
    const plain = await judge(browser, "slot", vector("good", "witnessed"));
    assert.deepEqual([plain.json.level, await evaluated()], ["witnessed", false]);
    const r = await judge(browser, "beacon", vector("good", "level-mixed"));
    assert.deepEqual([r.json.level, await evaluated()], ["mixed", true]);
    await browser.send("Profiler.disable");
    assert.match(r.text, /Level reached: mixed\n/);
    assert.match(r.text, /For everybody: the order hangs on round 32285086 of drand’s quicknet as well, which came out at \d{4}-/);
    assert.doesNotMatch(r.text, /you alone/i);
    await browser.shots("beacon");
    const both = vector("good", "level-mixed-both"), mine = await judge(browser, "both", { ...both, slot: both.trust.slots[0] });
    assert.match(mine.text, /For everybody: [\s\S]*For you alone: the order hangs on your slot/);
    const late = await judge(browser, "late", vector("good", "beacon-same-second"));
    assert.equal(late.steps[8], "ok");
    const other = await judge(browser, "other", vector("bad", "beacon-order-3"));
    assert.equal(other.json.failed, "beacon");
  });

  await t.test("a secret value from a link to a copy on disk", async () => {
    const c = vector("good", "slot");
    await browser.open("about:blank");
    await browser.open(`${PAGE}#main/4&slot=${encodeURIComponent(c.trust.slots[0])}`);
    assert.equal(await browser.run("location.hash"), "#main/4");
    assert.equal(await browser.run("document.querySelector('#slot').value"), "");
    await browser.run(`[...document.querySelectorAll("#link button")].find((b) => b.textContent.includes("I chose this value")).click(), 0`);
    assert.equal(await browser.run("document.querySelector('#slot').value"), c.trust.slots[0]);
    await browser.paste("trust", c.trust.policy);
    const r = await browser.judged(() => browser.drop("slot.json", c.file));
    assert.equal(r.json.level, "mixed");
    assert.match(r.text, /For you alone: .* The secret value came with the link, and you say that you chose it\./);
  });
});

inBrowser("the page and what is shuffled", async (t, browser) => {
  const key = await house.newKey(house.ORIGIN), { vkey } = key;
  const played = async (name, recipe, cheat) => {
    const r = await judge(browser, name, { file: await game(key, recipe, cheat), trust: { vkey } });
    assert.equal(r.json.verdict, "proved", JSON.stringify(r.json.steps));
    return r;
  };
  const faces = (kind) => browser.run(`[...document.querySelectorAll(".cards .${kind}")].map((f) => f.textContent || f.querySelectorAll(".on").length)`);

  await t.test("dice and other values", async () => {
    const r = await played("dice", { ranges: [6, 6, 6, 37, 1000000], slots: 1 });
    const [dice, others] = [await faces("die"), await faces("drawn")], shows = r.json.cards.map((c) => c.shows);
    assert.deepEqual(dice, shows.slice(0, 3));
    assert.deepEqual(others, shows.slice(3).map(String));
    assert.equal(r.cards[0], `${shows[0]}, of 1 to 6, place 0`);
    assert.match(r.text, /The values drawn/);
    assert.match(r.text, /Each value was moved after it was locked in, by a player’s secret value\./);
    const changed = r.json.cards.filter((c) => c.shows !== c.value);
    assert.ok(changed.length > 0);
    assert.equal(r.text.match(/locked in as \d+/g).length, changed.length);
    await browser.shots("dice");
    // On paper a die has its number, and the key is the one that judged, whatever the field and the language are now.
    await browser.paste("trust", "another+00000000+AA==");
    await browser.run(`{ const s = document.querySelector("#language"); s.value = "de"; s.dispatchEvent(new Event("change")); } 0`);
    const paper = await browser.run(`document.querySelector(".paper").textContent`);
    assert.ok(paper.includes(vkey) && paper.includes(shows.join("  ")), paper);
  });

  await t.test("k of n numbers, and a wheel", async () => {
    const balls = await played("balls", { deck: Array.from({ length: 49 }, (_, i) => String(i + 1)), m: 6 });
    assert.deepEqual(await faces("ball"), balls.json.cards.map((c) => c.card));
    assert.match(balls.text, /The numbers drawn/);
    await browser.shots("balls");
    const deck = [...Array(24).fill("x 1"), ...Array(15).fill("x 2"), ...Array(7).fill("x 5"), ...Array(4).fill("x 10"), ...Array(2).fill("x 20"), "x 40", "x 40 too"];
    const wheel = await played("wheel", { deck, m: 1 }), { card } = wheel.json.cards[0];
    assert.deepEqual(await faces("field"), [card]);
    assert.ok(wheel.text.includes(`“${card}” stands on ${deck.filter((c) => c === card).length} of the 54 fields.`));
    await browser.shots("wheel");
  });

  await t.test("what moved the order, and from where to where", async () => {
    const r = await played("moved", { deck: deckOf(20), m: 20, slots: 2, beacon: true, cut: 7 });
    assert.match(r.text, /The order was moved after it was locked in, by 2 players’ secret values, round 9 of a public beacon and a cut of 7 cards\./);
    const from = await browser.run(`[...document.querySelectorAll(".cards li")].map((li) => Number(/from (\\d+)/.exec(li.textContent)?.[1] ?? /#(\\d+)/.exec(li.textContent)[1]))`);
    assert.deepEqual(from, r.json.cards.map((c) => c.position));
    await browser.shots("moved");
    const plain = await played("in place", { deck: deckOf(20), m: 20 });
    assert.doesNotMatch(plain.text, /moved after/);
    assert.equal(await browser.run(`[...document.querySelectorAll(".note")].some((n) => n.textContent.startsWith("from"))`), false);
    const open = vector("good", "mixed-open-undealt"), waiting = await judge(browser, "waiting", vector("good", "slot-unmixed"));
    assert.match(waiting.text, /still to be moved by 2 players’ secret values\./);
    assert.match((await judge(browser, "undealt", open)).text, /The order was moved after it was locked in/);
  });

  await t.test("cards by seat, with backs for what is hidden", async () => {
    const deals = [{ cards: 2, recipient: "seat-1", public: 0 }, { cards: 2, recipient: "seat-2", public: 0 }, { cards: 1, purpose: 3, recipient: "", public: 0 },
      { cards: 3, purpose: 2, recipient: "" }, { cards: 1, recipient: "seat-2", public: 0 }];
    const all = JSON.parse(await game(key, { deck: deckOf(12), m: 12, deals }, { open: true }));
    const of = (recipient, ...places) => JSON.stringify({ format: all.format, id: all.id, recipient, deck: all.deck, checkpoint: all.checkpoint, receipts: all.receipts, cards: all.cards.filter((c) => places.includes(c.place)) });
    const hidden = (place) => `face down, place ${place}`;
    const show = async (name, file) => {
      const r = await judge(browser, name, { file, trust: { vkey } });
      assert.equal(r.json.verdict, "proved", JSON.stringify(r.json.steps));
      assert.equal(r.cards.length, JSON.parse(file).cards.length);
      return r.hands.map(([title, its]) => [title, its.map((one) => one.startsWith("face down") ? one : one.replace(/^.*, place/, "place"))]);
    };
    const board = ["The board", ["place 5", "place 6", "place 7"]], burned = ["Burned", [hidden(4)]];
    assert.deepEqual(await show("everybody", of(undefined, 5, 6, 7)), [board, ["seat-1", [hidden(0), hidden(1)]], ["seat-2", [hidden(2), hidden(3), hidden(8)]], burned]);
    await browser.shots("seats");
    assert.deepEqual(await show("seat-2", of("seat-2", 2, 3, 5, 6, 7, 8)), [["seat-2: this file is for you", ["place 2", "place 3", "place 8"]], board, ["seat-1", [hidden(0), hidden(1)]], burned]);
    await browser.shots("my-seat");
    assert.deepEqual(await show("nothing", of(undefined)), [["The board", [hidden(5), hidden(6), hidden(7)]], ["seat-1", [hidden(0), hidden(1)]], ["seat-2", [hidden(2), hidden(3), hidden(8)]], burned]);
  });

  await t.test("cards by round, and in a round by seat", async () => {
    const one = (recipient, round) => ({ cards: 1, recipient, round }), deals = [{ cards: 1, purpose: 3, recipient: "", public: 0 }, one("box-1", 1), one("dealer", 1), one("box-1", 1), one("dealer", 1), one("box-1", 2), one("dealer", 2), one("box-1", 2)];
    const r = await played("rounds", { deck: deckOf(12), m: 12, deals }, { close: { outcome: 2 } });
    assert.deepEqual(await browser.run(`[...document.querySelectorAll(".round")].map((h) => h.textContent)`), ["Round 1", "Round 2"]);
    const shown = await browser.run(`[...document.querySelectorAll(".hand")].map((h) => [h.querySelector("h5").textContent, h.querySelectorAll("li").length])`);
    assert.deepEqual(shown, [["box-1", 2], ["dealer", 2], ["box-1", 2], ["dealer", 1]]);
    assert.equal(r.json.last_round, 2);
    assert.doesNotMatch(r.text, /may follow/);
    await browser.shots("rounds");
    const open = await judge(browser, "open-rounds", vector("good", "open-rounds")); // SPEC 10.4
    assert.match(open.text, new RegExp(`More cards of round ${open.json.last_round} may follow: this file does not show that it is over\\.`));
    assert.match(await browser.run(`document.querySelector(".paper").textContent`), /may follow: this file does not show that it is over\./);
  });

  await t.test("times by the reader's clock", async () => {
    await browser.send("Emulation.setTimezoneOverride", { timezoneId: "Asia/Kolkata" });
    const r = await played("clock", { deck: deckOf(6), m: 6 });
    assert.match(r.text, /Committed\nSep 21, 2026, [0-9:]+ PM GMT\+5:30, by casino-1\n/);
    await browser.send("Emulation.setTimezoneOverride", { timezoneId: "UTC" });
  });

  await t.test("an order handed over, and the last hand", async () => {
    const r = await played("order", { deck: deckOf(12), m: 12, lo: 4, hi: 9, deals: [{ cards: 2 }, { cards: 10, purpose: 6, recipient: "", public: 0 }] });
    assert.match(r.text, /All 10 cards from place 2 on were handed in this order to the house’s back end, which deals by itself/);
    assert.deepEqual(r.hands.map(([name, its]) => [name, its.length]), [["seat-1", 2], ["Handed to the back end", 10]]);
    assert.match(r.text, new RegExp(`The cut card has come out, in front of place ${r.json.end_at}: `));
    assert.equal(await browser.run(`[...document.querySelectorAll(".cards li")].findIndex((li) => li.className === "cut")`), r.json.end_at); // the lists stand in the order of the places
    await browser.shots("order");
    const open = await played("open", { deck: deckOf(12), m: 12, lo: 4, hi: 9, deals: [{ cards: 2 }] }, { open: true });
    assert.match(open.text, /The cut card lies in front of one of the places 4 to 9: which one shows when the random bytes are disclosed/);
    assert.match(open.text, /ends before the shuffle was closed\. It was to be closed by 2026-09-21, [0-9:]+ UTC, and by this device’s clock that is past/);
    assert.equal(await browser.run(`document.querySelectorAll(".cut").length`), 0);
  });

  await t.test("who committed and dealt, and who took it over", async () => {
    const first = await played("one owner", { deck: deckOf(6), m: 6 });
    assert.match(first.text, /Committed\n2026-09-21, [0-9:]+ UTC, by casino-1\n/);
    assert.match(first.text, /Dealt by\ncasino-1, places 0 to 5\n/);
    assert.doesNotMatch(first.text, /took this shuffle over|does not know/);
    const by = "casino-2", deals = [{ cards: 2 }, { takeover: { reason: "<b>gone</b>" } }, { cards: 1, by }, { takeover: { by: "casino-3", extent: 1 } }];
    const r = await played("takeovers", { deck: deckOf(6), m: 6, deals }, { close: { by: "casino-3", outcome: 4, reason: 6 } });
    assert.match(r.text, /casino-2 took this shuffle over from casino-1, on 2026-09-21, [0-9:]+ UTC, when places 0 to 1 were dealt\. From then on casino-2 could play it on and close it\. The house says: “<b>gone<\/b>”/);
    assert.match(r.text, /casino-3 took this shuffle over from casino-2, on 2026-09-21, [0-9:]+ UTC, when places 0 to 2 were dealt\. From then on casino-3 could close it, and nothing else\. The house says: “casino-1 does not answer”/);
    assert.match(r.text, /Dealt by\ncasino-1, places 0 to 1; casino-2, place 2\n/);
    await browser.shots("takeovers");
    const before = await played("before", { deck: deckOf(6), m: 6, deals: [{ takeover: {} }] }, { close: { by, outcome: 4, reason: 6 } });
    assert.match(before.text, /UTC, before the first card was dealt\. From then on/);
    assert.doesNotMatch(before.text, /Dealt by/);
  });

  await t.test("what is passed over", async () => {
    const value = new Uint8Array(2), one = await played("one", { deck: deckOf(6), m: 6, extensions: [[128, value]] });
    assert.match(one.text, /This file holds 1 entry or value of 1 kind that this page does not know\. It changes nothing that it checks\./);
    const more = await played("more", { deck: deckOf(6), m: 6, deals: [{ cards: 2, purpose: 200, recipient: "" }, { cards: 2, purpose: 200 }], extensions: [[128, value]] }, { close: { outcome: 4, reason: 250 } });
    assert.match(more.text, /This file holds 4 entries or values of 3 kinds that this page does not know\. They change nothing that it checks\./);
    assert.match(more.text, /, void, for a reason that this page does not know/);
    await browser.shots("passed-over");
  });

  await t.test("where the cards are from, and how it ended", async () => {
    const child = await judge(browser, "child", vector("good", "child"));
    assert.match(child.text, /These cards come from shuffle 4: \d+ of its cards were shuffled again/);
    assert.match(child.text, /Not checked here is that they are the cards of shuffle 4/);
    for (const [name, says] of [["parent", /The game went on with cards of this shuffle/], ["expired", /An expired hand\n[\s\S]*Nobody closed this hand by its deadline/]])
      assert.match((await judge(browser, name, vector("good", name))).text, says, name);
    await browser.shots("expired");
    const words = ["dealt wrongly", "a card was seen", "deck was not as it should be", "called off", "made a mistake", "a system of the house failed", "a player disputed it", "did not come", "a regulator ordered it"];
    for (const [i, says] of words.entries()) {
      const r = await played("void", { deck: deckOf(6), m: 6, deals: [{ cards: 2 }] }, { close: { outcome: 4, reason: i + 1 } });
      assert.match(r.text, /^!\nA void hand\n[\s\S]*The house declared this hand void: it does not count\./);
      assert.ok(r.text.includes(says), says);
    }
    await browser.shots("void");
    for (const [dir, name] of [["good", "closed"], ["good", "ended-early"], ["bad", "card-value"]]) {
      await judge(browser, name, vector(dir, name));
      assert.equal(await browser.run(`document.querySelectorAll(".ending").length`), 0, name);
    }
  });
});
