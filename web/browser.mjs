// Drives verify.html in a headless Chromium, for the tests.
// SHOTS=dir keeps screenshots at 360 and 1200 px, light and dark.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

export const HERE = path.dirname(fileURLToPath(import.meta.url));
export const PAGE = pathToFileURL(path.join(HERE, "verify.html")).href;
const CHROMIUM = process.env.PATH.split(path.delimiter)
  .flatMap((dir) => ["chromium", "chromium-browser", "google-chrome"].map((name) => path.join(dir, name))).find((f) => existsSync(f));
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe"];

export const vector = (dir, name) => JSON.parse(readFileSync(path.join(HERE, "..", "internal", "verify", "testdata", "vectors", dir, `${name}.json`), "utf8"));

// inBrowser is a test with a browser and a directory of its own. Without a
// browser it is skipped, or fails if SHUFFLED_REQUIRE_BROWSER=1, as in CI.
export function inBrowser(name, run) {
  const required = process.env.SHUFFLED_REQUIRE_BROWSER === "1";
  test(name, { skip: CHROMIUM || required ? false : "NO CHROMIUM HERE: the page was not driven. Install chromium (scripts/browser.sh)", timeout: 180000 }, async (t) => {
    assert.ok(CHROMIUM, "no chromium, chromium-browser or google-chrome in PATH, and SHUFFLED_REQUIRE_BROWSER=1");
    const dir = mkdtempSync(path.join(tmpdir(), "page-"));
    const browser = await Browser.start(path.join(dir, "profile"));
    t.after(async () => { await browser.stop(); rmSync(dir, { recursive: true, force: true, maxRetries: 3 }); });
    await run(t, browser, dir);
  });
}

// faint runs in the page: it lists the text that has a contrast below 4.5 : 1
// with what is behind it (WCAG 2.2, 1.4.3).
function faint() {
  const rgba = (text) => { const n = text.match(/[\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const light = ([r, g, b]) => [r, g, b].map((x) => x / 255).map((x) => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
    .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const c = rgba(getComputedStyle(node).backgroundColor);
      if (c[3] === 1) return c;
      if (c[3] > 0) return over(c, behind(node.parentElement));
    }
    return [255, 255, 255];
  };
  const out = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    if (walk.currentNode.data.trim() === "" || !node.checkVisibility() || node.closest("script, style, .unseen")) continue;
    for (let up = node; up; up = up.parentElement) if (getComputedStyle(up).opacity !== "1") out.push(`${up.className} is see-through`);
    const back = behind(node), a = light(over(rgba(getComputedStyle(node).color), back)), b = light(back);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) out.push(`${walk.currentNode.data.slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return out;
}

// Browser speaks the DevTools protocol over the pipe: JSON ended by NUL.
export class Browser {
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
  }
  // visit opens the page at a link and waits for the verdict.
  async visit(url, ...asked) {
    await this.open("about:blank");
    const loaded = new Promise((resolve) => { this.loaded = resolve; });
    await this.send("Page.navigate", { url });
    await loaded;
    await this.until(`!document.querySelector("#result").hidden`);
    this.asked(url.split("#")[0], ...asked);
    return this.verdict();
  }
  // until waits for the page to change so that a condition holds.
  until(condition) {
    return this.run(`new Promise((resolve) => {
      const look = () => { if (${condition}) { seen.disconnect(); resolve(0); } };
      const seen = new MutationObserver(look);
      seen.observe(document.body, { childList: true, attributes: true, subtree: true, characterData: true });
      look();
    })`);
  }
  async run(expression) {
    const r = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (r.exceptionDetails) throw new Error(r.exceptionDetails.exception?.description ?? r.exceptionDetails.text);
    return r.result.value;
  }
  // judged does something on the page and waits for the verdict to be shown.
  async judged(action, ...allowed) {
    await this.run(`globalThis.done = new Promise((resolve) => new MutationObserver(() => { if (!document.querySelector("#result").hidden) resolve(0); })
      .observe(document.querySelector("#result"), { childList: true })), 0`);
    await action();
    await this.run("globalThis.done");
    this.asked(...allowed);
    return this.verdict();
  }
  verdict() {
    return this.run(`({ title: document.querySelector("#result-title").textContent, text: document.querySelector("#result").innerText,
      focus: document.activeElement.id, json: JSON.parse(document.querySelector("pre").textContent),
      steps: [...document.querySelectorAll(".steps li")].map((li) => li.className), cards: [...document.querySelectorAll(".cards .unseen")].map((s) => s.textContent) })`);
  }
  // asked wants the page to have asked for these addresses, and logged nothing.
  asked(...allowed) {
    assert.deepEqual(this.log.filter((line) => !line.includes("favicon")), allowed.map((url) => `asked for ${url}`), "the page asked for something else, or broke its own policy");
    this.log.length = 0;
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
  // shots looks at the page at two widths, light and dark: nothing is wider than
  // the window, and all text stands out from what is behind it.
  async shots(name) {
    for (const [width, dark] of [[360, false], [1200, false], [360, true], [1200, true]]) {
      await this.size(width, dark);
      const [scrolls, has] = await this.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]");
      assert.ok(scrolls <= has, `${name} at ${width} px is ${scrolls} wide`);
      assert.deepEqual(await this.run(`(${faint})()`), [], `${name} at ${width} px, ${dark ? "dark" : "light"}: contrast`);
      if (!process.env.SHOTS) continue;
      mkdirSync(process.env.SHOTS, { recursive: true });
      const { data } = await this.send("Page.captureScreenshot", { captureBeyondViewport: true, format: "png" });
      writeFileSync(path.join(process.env.SHOTS, `${name}-${width}${dark ? "-dark" : ""}.png`), Buffer.from(data, "base64"));
    }
    await this.size(1200);
  }
  // piece keeps a picture of a part of the page, from one element to another.
  async piece(name, from, to) {
    if (!process.env.SHOTS) return;
    await this.size(760);
    const clip = await this.run(`{ document.activeElement.blur(); const a = document.querySelector(${JSON.stringify(from)}).getBoundingClientRect(), b = document.querySelector(${JSON.stringify(to)}).getBoundingClientRect();
      ({ x: 0, y: scrollY + a.top - 16, width: innerWidth, height: b.bottom - a.top + 24, scale: 1 }) }`);
    const { data } = await this.send("Page.captureScreenshot", { captureBeyondViewport: true, format: "png", clip });
    writeFileSync(path.join(process.env.SHOTS, `${name}.png`), Buffer.from(data, "base64"));
    await this.size(1200);
  }
  async stop() {
    await this.send("Browser.close").catch(() => {});
    await this.exited;
  }
}

