// Drives verify.html from disk in a headless Chromium, where one is installed.
// SHOTS=dir keeps screenshots at 360 and 1200 px, light and dark.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const PAGE = pathToFileURL(path.join(HERE, "verify.html")).href;
const CHROMIUM = process.env.PATH.split(path.delimiter)
  .flatMap((dir) => ["chromium", "chromium-browser", "google-chrome"].map((name) => path.join(dir, name))).find((f) => existsSync(f));
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe"];

const vector = (dir, name) => JSON.parse(readFileSync(path.join(HERE, "..", "internal", "verify", "testdata", "vectors", dir, `${name}.json`), "utf8"));

// Browser speaks the DevTools protocol over the pipe: JSON ended by NUL.
class Browser {
  static async start(profile) {
    const b = new Browser();
    b.waiting = new Map();
    b.last = 0;
    b.log = [];
    b.process = spawn(CHROMIUM, [...FLAGS, `--user-data-dir=${profile}`, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    b.exited = new Promise((resolve) => b.process.on("exit", resolve));
    let text = "";
    b.process.stdio[4].on("data", (chunk) => {
      text += chunk;
      for (let end; (end = text.indexOf("\0")) >= 0; text = text.slice(end + 1)) b.receive(JSON.parse(text.slice(0, end)));
    });
    const { targetId } = await b.send("Target.createTarget", { url: "about:blank" });
    b.target = (await b.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    for (const domain of ["Page", "Runtime", "DOM", "Log", "Network", "Accessibility"]) await b.send(`${domain}.enable`);
    return b;
  }
  receive(m) {
    if (m.id !== undefined) {
      const { resolve, reject } = this.waiting.get(m.id);
      this.waiting.delete(m.id);
      if (m.error) reject(new Error(m.error.message)); else resolve(m.result);
    } else {
      if (m.method === "Log.entryAdded") this.log.push(m.params.entry.text);
      if (m.method === "Runtime.exceptionThrown") this.log.push(m.params.exceptionDetails.exception?.description ?? m.params.exceptionDetails.text);
      if (m.method === "Network.requestWillBeSent") this.log.push(`asked for ${m.params.request.url}`);
      if (m.method === "Page.loadEventFired") this.loaded?.();
    }
  }
  send(method, params = {}) {
    const id = ++this.last;
    this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: this.target })}\0`);
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }
  async open(url) {
    const loaded = new Promise((resolve) => { this.loaded = resolve; });
    await this.send("Page.navigate", { url });
    await loaded;
    this.log.length = 0;
    await this.run(`new MutationObserver(() => { if (!document.querySelector("#result").hidden) globalThis.shown?.(); })
      .observe(document.querySelector("#result"), { childList: true })`);
  }
  async run(expression) {
    const r = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (r.exceptionDetails) throw new Error(r.exceptionDetails.exception?.description ?? r.exceptionDetails.text);
    return r.result.value;
  }
  // judged does something on the page and waits for the verdict to be shown.
  async judged(action) {
    await this.run("globalThis.done = new Promise((resolve) => { globalThis.shown = resolve; }), 0");
    await action();
    await this.run("globalThis.done.then(() => 0)");
    assert.deepEqual(this.log.filter((line) => !line.includes("favicon")), [], "the page asked for something, or broke its own policy");
    return this.run(`({ title: document.querySelector("#result-title").textContent, text: document.querySelector("#result").innerText,
      focus: document.activeElement.id, json: JSON.parse(document.querySelector("pre").textContent),
      steps: [...document.querySelectorAll(".steps li")].map((li) => li.className), cards: [...document.querySelectorAll(".cards .unseen")].map((s) => s.textContent) })`);
  }
  async choose(...files) {
    const { root } = await this.send("DOM.getDocument");
    const { nodeId } = await this.send("DOM.querySelector", { nodeId: root.nodeId, selector: "#file" });
    await this.send("DOM.setFileInputFiles", { nodeId, files });
  }
  // paste types into a field as a person's clipboard does, by the paste event.
  paste(id, text) {
    return this.run(`{ const t = document.getElementById(${JSON.stringify(id)}); t.focus(); t.value = ${JSON.stringify(text)};
      t.dispatchEvent(new InputEvent("input", { bubbles: true })); t.dispatchEvent(new ClipboardEvent("paste", { bubbles: true })); } 0`);
  }
  drop(name, text) {
    return this.run(`{ const d = new DataTransfer(); d.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
      document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: d })); } 0`);
  }
  async size(width, dark = false) {
    await this.send("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: width < 500 ? 2 : 1, mobile: width < 500 });
    await this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
  }
  async shots(name) {
    for (const [width, dark] of [[360, false], [1200, false], [360, true], [1200, true]]) {
      await this.size(width, dark);
      const [scrolls, has] = await this.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]");
      assert.ok(scrolls <= has, `${name} at ${width} px is ${scrolls} wide`);
      if (!process.env.SHOTS) continue;
      mkdirSync(process.env.SHOTS, { recursive: true });
      const { data } = await this.send("Page.captureScreenshot", { captureBeyondViewport: true, format: "png" });
      writeFileSync(path.join(process.env.SHOTS, `${name}-${width}${dark ? "-dark" : ""}.png`), Buffer.from(data, "base64"));
    }
    await this.size(1200);
  }
  async stop() {
    await this.send("Browser.close").catch(() => {});
    await this.exited;
  }
}

test("the page in a browser", { skip: CHROMIUM ? false : "no Chromium here", timeout: 120000 }, async (t) => {
  const dir = mkdtempSync(path.join(tmpdir(), "page-"));
  const browser = await Browser.start(path.join(dir, "profile"));
  t.after(async () => { await browser.stop(); rmSync(dir, { recursive: true, force: true, maxRetries: 3 }); });
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
    assert.equal(r.steps.length, 12);
    assert.equal(r.steps.filter((s) => s === "ok").length, 11);
    assert.equal(r.cards.length, r.json.cards.length);
    assert.match(r.cards[0], /^(ace|two|three|four|five|six|seven|eight|nine|ten|jack|queen|king) of (spades|hearts|diamonds|clubs), place 0$/);
    await browser.shots("good");
  });

  await t.test("a tampered file, dropped", async () => {
    await browser.open(PAGE);
    await browser.paste("trust", bad.trust.vkey);
    const r = await browser.judged(() => browser.drop("tampered.json", bad.file));
    assert.equal(r.json.failed, "openings");
    assert.match(r.text, /step 9 of 12, openings/);
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
    for (const name of ["draws-mixed", "child", "shoe-2", "cosigned-2-of-3", "tape-lost", "recipient"]) {
      await browser.open(PAGE);
      const c = vector("good", name);
      await browser.paste("trust", c.trust.vkey ?? c.trust.policy);
      const r = await browser.judged(() => browser.drop(`${name}.json`, c.file));
      assert.equal(r.json.verdict, c.want.verdict, name);
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
