// Tests of the page in its languages. In another language the page has no English text,
// except what the verifier says and what comes from the file.
import assert from "node:assert/strict";
import { PAGE, inBrowser, vector } from "./browser.mjs";
import * as house from "./house.mjs";
import { deckOf, game } from "./house.mjs";

// latin runs in the page. It lists the visible text in Latin letters, except code, text that
// is marked as English, and text that the page repeats from the file.
function latin() {
  const out = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    if (!node.checkVisibility() || node.closest("script, style, noscript, textarea, code, bdi, pre, .face, [lang=en], option")) continue;
    const said = walk.currentNode.data.replace(/\u2068[^\u2069]*\u2069/g, "").replace(/shuffled(\/v1| verify)|JSON|base64|[+/=A-Za-z0-9]{44}/g, "");
    if (/[A-Za-z]{2,}/.test(said)) out.push(said);
  }
  return out;
}

inBrowser("the page in other languages", async (t, browser) => {
  const key = await house.newKey(house.ORIGIN), { vkey } = key;
  const speak = (language) => browser.run(`{ const s = document.querySelector("#language"); s.value = ${JSON.stringify(language)}; s.dispatchEvent(new Event("change")); } 0`);
  const open = async (language, setup) => {
    await browser.open(PAGE);
    await speak(language);
    await setup?.();
  };
  const closed = () => browser.run(`document.querySelectorAll("details:not(.json)").forEach((d) => { d.open = true; }), 0`);
  const seats = async () => {
    const deals = [{ cards: 2, recipient: "seat-1", public: 0 }, { cards: 2, recipient: "seat-2", public: 0 }, { cards: 1, purpose: 3, recipient: "", public: 0 }, { cards: 3, purpose: 2, recipient: "" }];
    const all = JSON.parse(await game(key, { deck: deckOf(52).map((_, i) => "23456789TJQKA"[i % 13] + "shdc"[i / 13 | 0]), m: 52, deals }, { open: true }));
    return JSON.stringify({ format: all.format, id: all.id, recipient: "seat-2", deck: all.deck, checkpoint: all.checkpoint, receipts: all.receipts, cards: all.cards.filter(({ place }) => [2, 3, 5, 6, 7].includes(place)) });
  };
  // The states of the page: each has a file, and a key or a policy.
  const states = {
    seats: { file: await seats(), trust: vkey },
    moved: { file: await game(key, { deck: deckOf(20), m: 20, slots: 2, beacon: true, cut: 7 }), trust: vkey },
    dice: { file: await game(key, { ranges: [6, 6, 6, 37, 1000000], slots: 1 }), trust: vkey },
    order: { file: await game(key, { deck: deckOf(12), m: 12, lo: 4, hi: 9, deals: [{ cards: 2 }, { cards: 10, purpose: 6, recipient: "", public: 0 }] }), trust: vkey },
    void: { file: await game(key, { deck: deckOf(6), m: 6, deals: [{ cards: 2 }, { takeover: { reason: "gone" } }, { cards: 1, by: "casino-2" }] }, { close: { by: "casino-2", outcome: 4, reason: 6 } }), trust: vkey },
    passed: { file: await game(key, { deck: deckOf(6), m: 6, extensions: [[128, new Uint8Array(2)]] }), trust: vkey },
  };
  for (const [dir, name] of [["bad", "card-value-and-name"], ["bad", "signature"], ["good", "slots"], ["good", "stated"], ["good", "child"], ["good", "expired"], ["good", "level-mixed"], ["good", "witnessed"], ["good", "terms-wheel"],
    ["good", "terms-raffle"], ["good", "terms-pay-table"], ["good", "tape-lost"], ["good", "cosigned-2-of-3"], ["good", "blind-auditors"], ["good", "blind-looked"], ["good", "blind-silent"], ["good", "receipt"], ["good", "open"], ["good", "revealed-sealed"], ["good", "continued-sealed"]]) {
    let c;
    try { c = vector(dir, name); } catch { continue; }
    states[name] = { file: c.file, trust: c.trust.policy ?? c.trust.vkey ?? "", slot: c.trust.slots?.[0], auditors: c.trust.auditors?.join("\n"), coDealer: c.trust.co_dealer };
  }
  states["key-cut"] = { file: states.seats.file, trust: vkey.slice(0, -3) };
  assert.ok(Object.keys(states).length >= 22, Object.keys(states).join());
  const judge = async ({ file, trust, slot = "", auditors = "", coDealer = "" }) => {
    for (const [id, text] of Object.entries({ trust, slot, auditors, "co-dealer": coDealer })) await browser.paste(id, text);
    return browser.judged(() => browser.drop("hand.json", file));
  };

  await t.test("no English in Arabic, in any state", async () => {
    await open("ar");
    assert.deepEqual(await browser.run("[document.documentElement.lang, document.documentElement.dir, document.title]"), ["ar", "rtl", "تحقّق من خلط الأوراق"]);
    await closed();
    assert.deepEqual(await browser.run(`(${latin})()`), [], "the form");
    for (const [name, given] of Object.entries(states)) {
      await open("ar");
      const { json } = await judge(given);
      if (json.verdict === "proved") assert.equal(await browser.run(`document.querySelectorAll(".verdict .tech").length`), 0, `${name}: the first words are the reader's, not the verifier's`);
      await closed();
      assert.deepEqual(await browser.run(`(${latin})()`), [], name);
      assert.equal(await browser.run(`document.documentElement.scrollWidth <= document.documentElement.clientWidth`), true, name);
    }
    for (const [hash, says] of [["#main/0", "#casino.example/main/1234"], ["#main/2&key=x", "casino"]]) {
      await open("ar", () => browser.run(`location.hash = ${JSON.stringify(hash)}, 0`));
      await browser.until(`document.querySelector("#link").innerText.includes(${JSON.stringify(says)})`);
      assert.deepEqual(await browser.run(`(${latin})()`), [], hash);
    }
    for (const [id, text] of [["slot", "abc"], ["text", ""]]) {
      await open("ar");
      await browser.paste(id, text);
      if (id === "slot") await browser.paste("text", "x");
      await browser.run(`document.querySelector("button[type=submit]").click(), 0`);
      await browser.until(`said !== ""`);
      assert.deepEqual(await browser.run(`(${latin})()`), [], id);
    }
  });

  await t.test("each language, on a phone and on a desk", async () => {
    for (const language of ["es", "de", "ar"]) {
      await open(language);
      await browser.shots(`start-${language}`);
      for (const name of ["seats", "card-value-and-name", "slots", "void"]) {
        await open(language);
        await judge(states[name]);
        await browser.shots(`${name}-${language}`);
        await closed();
        await browser.shots(`${name}-open-${language}`);
      }
    }
  });

  await t.test("a change of language says the same again, and asks for nothing", async () => {
    await open("de");
    const first = await judge(states.seats);
    assert.equal(first.title, "Bewiesen");
    assert.match(first.text, /König|Dame|Bube|Ass|Zwei|Drei|Vier|Fünf|Sechs|Sieben|Acht|Neun|Zehn/);
    for (const [language, title] of [["es", "Probado"], ["ar", "ثابت"], ["en", "Proved"]]) {
      await speak(language);
      const r = await browser.verdict();
      assert.deepEqual([r.title, r.json, r.cards.length], [title, first.json, first.cards.length], language);
      assert.equal(await browser.run("document.documentElement.dir"), language === "ar" ? "rtl" : "ltr");
    }
    browser.asked();
  });

  await t.test("the reader’s own language comes first, and another country's numbers and times", async () => {
    await browser.send("Emulation.setTimezoneOverride", { timezoneId: "Europe/Berlin" });
    for (const [accept, language, says] of [["de-AT,en", "de", /21\. Sept?\. 2026, 16:13:20 MESZ/], ["fr-FR,es-MX", "es", /21 sept?\.? 2026, 0?4:13:20 p\.\s?m\. GMT\+2/], ["ja-JP", "en", /Sep(t)? 21, 2026|21 Sept? 2026/]]) {
      await browser.send("Emulation.setUserAgentOverride", { userAgent: "tests", acceptLanguage: accept });
      await browser.open(PAGE);
      assert.equal(await browser.run("document.documentElement.lang"), language);
      const r = await judge(states.moved);
      assert.match(r.text.normalize("NFKC"), says);
    }
  });

  await t.test("text of a file that runs the other way turns no sentence around", async () => {
    await browser.send("Emulation.setUserAgentOverride", { userAgent: "tests", acceptLanguage: "en" });
    const r = await judge({ file: await game(key, { deck: Array.from({ length: 6 }, (_, i) => `أحمر ${i % 2}`), m: 1 }), trust: vkey });
    assert.equal(r.json.verdict, "proved", JSON.stringify(r.json.steps));
    assert.match(r.text, /“\u2068أحمر [01]\u2069” stands on 3 of the 6 fields\./);
  });
});
