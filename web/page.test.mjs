// Drives verify.html from disk (web/browser.mjs).
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { HERE, PAGE, inBrowser, vector } from "./browser.mjs";

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
    assert.equal(r.steps.length, 14);
    assert.equal(r.steps.filter((s) => s === "ok").length, 11);
    assert.equal(r.cards.length, r.json.cards.length);
    assert.match(r.cards[0], /^(ace|two|three|four|five|six|seven|eight|nine|ten|jack|queen|king) of (spades|hearts|diamonds|clubs), place 0$/);
    await browser.shots("good");
    await browser.piece("verify-page", ".verdict", ".cards"); // docs/verify-page.png
  });

  await t.test("a tampered file, dropped", async () => {
    await browser.open(PAGE);
    await browser.paste("trust", bad.trust.vkey);
    const r = await browser.judged(() => browser.drop("tampered.json", bad.file));
    assert.equal(r.json.failed, "openings");
    assert.match(r.text, /step 11 of 14, openings/);
    assert.deepEqual(r.cards, []);
    assert.doesNotMatch(r.text, /Level reached/);
    await browser.shots("tampered");
  });

  await t.test("an unreadable file", async () => {
    await browser.open(PAGE);
    const r = await browser.judged(() => browser.choose(write("holiday.png", Uint8Array.from({ length: 5000 }, (_, i) => i * 7 + (i >> 3)))));
    assert.equal(r.json.failed, "format");
    assert.match(r.text, /no intact transcript or receipt/);
    await browser.shots("unreadable");
  });

  await t.test("what a later version wrote, and a receipt, pasted", async () => {
    await browser.open(PAGE);
    const later = await browser.judged(() => browser.paste("text", vector("bad", "unknown-format").file));
    assert.equal(later.json.verdict, "cannot judge");
    await browser.shots("later");
    const receipt = vector("good", "receipt-commit-3");
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

  await t.test("every kind of shuffle is shown", async () => {
    for (const name of ["draws-mixed", "child", "shoe-2", "cosigned-2-of-3", "tape-lost", "recipient", "witnessed"]) {
      await browser.open(PAGE);
      const c = vector("good", name);
      await browser.paste("trust", c.trust.vkey ?? c.trust.policy);
      const r = await browser.judged(() => browser.drop(`${name}.json`, c.file));
      assert.deepEqual([r.json.verdict, r.json.level], [c.want.verdict, c.want.level], name);
      await browser.shots(name);
    }
  });

  await t.test("by keyboard alone", async () => {
    await browser.open(PAGE);
    const focus = () => browser.run("document.activeElement.id || document.activeElement.type || document.activeElement.tagName");
    const press = async (k, code) => { for (const type of ["keyDown", "keyUp"]) await browser.send("Input.dispatchKeyEvent", { type, key: k, code: k, windowsVirtualKeyCode: code, text: type === "keyDown" && k === "Enter" ? "\r" : undefined }); };
    const seen = [];
    for (let i = 0; i < 4; i++) { await press("Tab", 9); seen.push(await focus()); }
    assert.deepEqual(seen, ["file", "text", "trust", "submit"]);
    await press("Enter", 13);
    assert.match(await browser.run("document.getElementById('status').textContent"), /Choose a file/);
    await browser.run(`document.getElementById("text").value = ${JSON.stringify(good.file)}; document.querySelector("button").focus(); 0`);
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
