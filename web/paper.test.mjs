// Tests of the verdict on paper: what the page prints, and what shuffled verify --html writes, is one sheet of A4 that
// says which hand it was, what was proved and how, what was not, and how to repeat it: node --test web/
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { HERE, PAGE, inBrowser, vector } from "./browser.mjs";

// Files with much to say: many cards, witnesses, a beacon and a slot, a co-dealer, hands that were void or looked at.
const FILES = ["standard-52", "witnessed", "level-mixed-both", "blind-closed", "blind-looked", "blind-silent", "expired", "terms-wheel", "stated", "open"];

inBrowser("the verdict on paper", async (t, browser, dir) => {
  const binary = path.join(dir, "shuffled");
  execFileSync("go", ["build", "-o", binary, "./cmd/shuffled"], { cwd: path.join(HERE, "..") });
  const print = async (name) => {
    const { data } = await browser.send("Page.printToPDF", { preferCSSPageSize: true, printBackground: true }), pdf = Buffer.from(data, "base64");
    if (process.env.SHOTS) { mkdirSync(process.env.SHOTS, { recursive: true }); writeFileSync(path.join(process.env.SHOTS, `paper-${name}.pdf`), pdf); }
    return pdf.toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g)?.length;
  };
  for (const name of FILES) await t.test(name, async () => {
    const { file, trust } = vector("good", name), digest = createHash("sha256").update(file).digest("hex");
    for (const language of ["en", "de", "ar"]) {
      await browser.open(PAGE);
      await browser.run(`{ const s = document.querySelector("#language"); s.value = "${language}"; s.dispatchEvent(new Event("change")); } 0`);
      for (const [id, text] of [["trust", trust.policy ?? trust.vkey], ["co-dealer", trust.co_dealer], ["auditors", trust.auditors?.join("\n")], ["slot", trust.slots?.join(" ")]]) if (text) await browser.paste(id, text);
      await browser.judged(() => browser.drop(`${name}.json`, file));
      assert.equal(await print(`${name}-${language}`), 1, `${language}: pages`);
    }
    await browser.send("Emulation.setEmulatedMedia", { media: "print" });
    const visible = await browser.run(`[...document.querySelectorAll("button, select, input, textarea, .button")].filter((e) => e.checkVisibility()).length`);
    const said = await browser.run(`document.body.innerText`);
    await browser.send("Emulation.setEmulatedMedia", { media: "" });
    assert.equal(visible, 0, "buttons on paper");
    assert.ok(said.includes(digest) && said.includes("shuffled verify --key KEY FILE"), said);

    const write = (what, data) => { const f = path.join(dir, `${name}.${what}`); writeFileSync(f, data); return f; };
    const args = [write("json", file), "--html", path.join(dir, `${name}.html`)];
    if (trust.policy) args.push("--policy", write("policy", trust.policy));
    else args.push("--key", trust.vkey);
    if (trust.co_dealer) args.push("--co-dealer", write("co_dealer", trust.co_dealer));
    for (const key of trust.auditors ?? []) args.push("--auditor", key);
    execFileSync(binary, ["verify", ...args]);
    await browser.open(pathToFileURL(path.join(dir, `${name}.html`)).href);
    const sheet = await browser.run(`document.body.innerText`);
    for (const part of [/^Verdict on a transcript\n/, /number \d+ of table table-1/, /What was proved\n/, /What it does not prove\n/, /How to repeat it\n/]) assert.match(sheet, part);
    assert.ok(sheet.includes(digest));
    assert.equal(/blind-(looked|silent)|expired/.test(name), /PROVED, AND (VOID|EXPIRED|OPENED AND NOT DEALT ON)/.test(sheet));
    assert.equal(await print(`${name}-command`), 1, "pages of --html");
    assert.deepEqual(await browser.run(`document.querySelectorAll("script, img, link").length`), 0);
  });
});
