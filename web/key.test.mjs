// Tests of how a key comes to the page, and whether the page keeps it.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import encodeQR from "../client/typescript/node_modules/qr/index.js";
import { PAGE, inBrowser, vector } from "./browser.mjs";
import { fileURLToPath } from "node:url";

const good = vector("good", "standard-52"), vkey = good.trust.vkey;

// dots returns a QR code with its quiet zone, as rows that say of each dot whether it is dark.
const dots = (text) => encodeQR(text, "raw", { border: 4 });

// gif returns a picture of a QR code. Each dot is 8 pixels wide.
const gif = (text) => encodeQR(text, "gif", { scale: 8, border: 4 });

// film returns one picture of a QR code for Chromium's fake camera: YUV4MPEG2, 4:2:0.
function film(text) {
  const side = 480, code = dots(text), scale = Math.floor(side / code.length), from = Math.floor((side - scale * code.length) / 2);
  const y = Buffer.alloc(side * side, 235);
  for (const [row, line] of code.entries())
    for (const [column, dark] of line.entries())
      if (dark) for (let i = 0; i < scale; i++) y.fill(16, (from + row * scale + i) * side + from + column * scale, (from + row * scale + i) * side + from + (column + 1) * scale);
  return Buffer.concat([Buffer.from(`YUV4MPEG2 W${side} H${side} F10:1 Ip A1:1 C420jpeg\n`), Buffer.from("FRAME\n"), y, Buffer.alloc(side * side / 2, 128)]);
}

const trust = (browser) => browser.run("document.getElementById('trust').value");
const status = (browser) => browser.run("document.getElementById('status').textContent");

inBrowser("a key in a picture", async (t, browser, dir) => {
  const write = (name, data) => { const f = path.join(dir, name); writeFileSync(f, data); return f; };
  await browser.open(PAGE);
  const r = await browser.judged(() => browser.choose(write("card.gif", gif(vkey)), write("good.json", good.file)));
  assert.deepEqual([r.json.verdict, r.json.level], ["proved", "recorded"]);
  assert.equal(await trust(browser), vkey);
  await browser.choose(write("blurred.gif", Uint8Array.from({ length: 900 }, (_, i) => i * 7)));
  await browser.until(`said !== ""`);
  assert.match(await browser.run("document.getElementById('name').textContent"), /^good\.json, /, "a picture is no evidence");
  for (const [name, picture] of [["holiday", gif("https://example.com/")], ["noise", Uint8Array.from({ length: 5000 }, (_, i) => i * 7 + (i >> 3))]]) {
    await browser.open(PAGE);
    await browser.choose(write(`${name}.gif`, picture));
    await browser.until(`said !== ""`);
    assert.match(await status(browser), new RegExp(`^${name}\\.gif: No QR code with a verifier key`));
    assert.equal(await trust(browser), "");
  }
});

inBrowser("a key that stays when asked to", async (t, browser, dir) => {
  const page = readFileSync(fileURLToPath(PAGE));
  const server = createServer((_, answer) => answer.end(page)).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${server.address().port}/`, remember = () => browser.run(`document.getElementById("remember").click()`);
  await browser.open(url);
  await browser.paste("trust", vkey);
  await browser.open(url);
  assert.equal(await trust(browser), "", "nobody asked");
  await browser.paste("trust", vkey);
  await remember();
  await browser.open(url);
  assert.equal(await trust(browser), vkey);
  assert.equal(await browser.run(`document.getElementById("remember").checked`), true);
  // A key from a file is used, but does not replace the key that the page keeps.
  const other = path.join(dir, "other.vkey");
  writeFileSync(other, vkey.replace("example.com", "other.example"));
  await browser.choose(other);
  await browser.until(`document.querySelector("#trust").value.startsWith("other") || said !== ""`).catch(() => {});
  await browser.open(url);
  assert.equal(await trust(browser), vkey);
  await remember();
  await browser.open(url);
  assert.equal(await trust(browser), "", "it was to be forgotten");

  // All files that are opened from disk share one store, so a page from disk neither writes nor reads it.
  await browser.open(PAGE);
  await browser.run(`localStorage.setItem("shuffled: whom I trust", ${JSON.stringify(vkey)})`);
  await browser.open(PAGE);
  assert.equal(await trust(browser), "", "another file could have put it there");
  assert.equal(await browser.run(`document.getElementById("remember").checkVisibility()`), false);
  await browser.paste("trust", "other.example/main+00000000+AAAA");
  assert.equal(await browser.run(`localStorage.getItem("shuffled: whom I trust")`), vkey);
});

inBrowser("a key by the camera", async (t, browser) => {
  await browser.open(PAGE);
  await browser.run(`document.getElementById("scan").click()`);
  await browser.until(`said !== ""`);
  assert.match(await status(browser), /^The QR code is read/);
  assert.equal(await trust(browser), vkey);
  assert.equal(await browser.run(`document.getElementById("camera").childElementCount`), 0, "the camera is still on");
}, (dir) => {
  writeFileSync(path.join(dir, "card.y4m"), film(vkey));
  return ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", `--use-file-for-fake-video-capture=${path.join(dir, "card.y4m")}`];
});
