// Drives verify.html in a headless Chromium, for the tests.
// SHOTS=dir keeps screenshots at 390 and 1200 px, light and dark.
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
const AXE = readFileSync(path.join(HERE, "..", "client", "typescript", "node_modules", "axe-core", "axe.min.js"), "utf8");
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe"];

export const vector = (dir, name) => JSON.parse(readFileSync(path.join(HERE, "..", "internal", "verify", "testdata", "vectors", dir, `${name}.json`), "utf8"));

// A wait ends at once if the page or the browser breaks. A wait for a change of
// the page ends after PATIENCE, and a whole test after HANGS. Both are in
// milliseconds, and far longer than a busy machine needs.
const PATIENCE = 60 * 1000, HANGS = 15 * 60 * 1000;

// inBrowser runs a test with a browser and a directory of its own. Without a
// browser the test is skipped, or fails if SHUFFLED_REQUIRE_BROWSER=1, as in CI.
// flags returns further flags for the browser.
export function inBrowser(name, run, flags = () => []) {
  const required = process.env.SHUFFLED_REQUIRE_BROWSER === "1";
  test(name, { skip: CHROMIUM || required ? false : "NO CHROMIUM HERE: the page was not driven. Install chromium (scripts/web.sh)", timeout: HANGS }, async (t) => {
    assert.ok(CHROMIUM, "no chromium, chromium-browser or google-chrome in PATH, and SHUFFLED_REQUIRE_BROWSER=1");
    const dir = mkdtempSync(path.join(tmpdir(), "page-")), browser = new Browser(path.join(dir, "profile"), flags(dir));
    t.after(async () => { await browser.stop(); rmSync(dir, { recursive: true, force: true, maxRetries: 3 }); });
    await browser.attach();
    await run(t, browser, dir);
  });
}

// faint runs in the page. It lists the text whose contrast with its background is
// below 4.5 : 1 (WCAG 2.2, 1.4.3), and elements that are not opaque.
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
  constructor(profile, flags) {
    this.waiting = new Map();
    this.last = 0;
    this.log = [];
    this.process = spawn(CHROMIUM, [...FLAGS, ...flags, `--user-data-dir=${profile}`, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.exited = new Promise((resolve) => this.process.on("exit", resolve).on("error", resolve));
    this.exited.then(() => this.broke("the browser ended"));
    this.process.stdio[3].on("error", () => {}); // the browser ended, which `exited` tells
    let text = "";
    this.process.stdio[4].on("data", (chunk) => {
      text += chunk;
      for (let end; (end = text.indexOf("\0")) >= 0; text = text.slice(end + 1)) this.receive(JSON.parse(text.slice(0, end)));
    });
  }
  async attach() {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    this.target = (await this.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    for (const domain of ["Page", "Runtime", "DOM", "Log", "Network", "Accessibility", "Inspector"]) await this.send(`${domain}.enable`);
  }
  receive(m) {
    if (m.id !== undefined) {
      const { resolve, reject } = this.waiting.get(m.id) ?? {};
      this.waiting.delete(m.id);
      if (m.error) reject?.(new Error(m.error.message)); else resolve?.(m.result);
    } else {
      if (m.method === "Log.entryAdded") this.log.push([m.params.entry.text, m.params.entry.url].filter(Boolean).join(" "));
      if (m.method === "Network.requestWillBeSent") this.log.push(`asked for ${m.params.request.url}`);
      if (m.method === "Page.loadEventFired") this.loaded?.();
      if (m.method === "Inspector.targetCrashed") this.broke("the page crashed");
      if (m.method === "Runtime.exceptionThrown") this.broke(m.params.exceptionDetails.exception?.description ?? m.params.exceptionDetails.text);
    }
  }
  // broke ends every wait with an error.
  broke(why) {
    this.log.push(why);
    for (const { reject } of this.waiting.values()) reject(new Error(why));
    this.waiting.clear();
  }
  send(method, params = {}) {
    const id = ++this.last;
    this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: this.target })}\0`);
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }
  // open loads the page, and checks that nothing in it broke. Failed requests do not
  // count, because the page before can have made them.
  async open(url) {
    this.log.length = 0;
    const loaded = new Promise((resolve) => { this.loaded = resolve; });
    await this.send("Page.navigate", { url });
    await loaded;
    assert.deepEqual(this.log.filter((line) => !/^(asked for|Failed to load resource)/.test(line)), [], `the page at ${url} is broken`);
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
  // until waits until a condition holds in the page.
  until(condition) {
    return this.run(`new Promise((resolve, reject) => {
      const end = (settle, value) => { seen.disconnect(); clearTimeout(late); settle(value); };
      const look = () => {
        const said = document.querySelector("#status").textContent;
        if (${condition}) end(resolve, 0);
        else if (said.startsWith("The check could not run")) end(reject, new Error(said));
      };
      const late = setTimeout(() => end(reject, new Error(${JSON.stringify(`waited in vain for ${condition}`)})), ${PATIENCE});
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
    await this.run(`globalThis.before = document.querySelector("#result").firstChild, 0`);
    await action();
    await this.until(`!document.querySelector("#result").hidden && document.querySelector("#result").firstChild !== globalThis.before`);
    this.asked(...allowed);
    return this.verdict();
  }
  verdict() {
    return this.run(`(() => { const closed = [...document.querySelectorAll("#result .behind:not([open])")]; // the closed parts are read, too
      const says = () => ({ title: document.querySelector("#result-title").textContent, text: document.querySelector("#result").innerText,
      focus: document.activeElement.id, json: JSON.parse(document.querySelector("details pre").textContent),
      steps: [...document.querySelectorAll(".steps li")].map((li) => li.className), cards: [...document.querySelectorAll(".cards li:not(.back) .unseen")].map((s) => s.textContent),
      hands: [...document.querySelectorAll(".hand")].map((h) => [h.querySelector("h4, h5").textContent, [...h.querySelectorAll(".unseen")].map((s) => s.textContent)]) });
      for (const part of closed) part.open = true;
      try { return says(); } finally { for (const part of closed) part.open = false; } })()`);
  }
  // asked checks that the page asked for these addresses and no other, and logged no error.
  asked(...allowed) {
    assert.deepEqual(this.log, allowed.map((url) => `asked for ${url}`), "the page asked for something else, or broke its own policy");
    this.log.length = 0;
  }
  async choose(...files) {
    const { root } = await this.send("DOM.getDocument");
    const { nodeId } = await this.send("DOM.querySelector", { nodeId: root.nodeId, selector: "#file" });
    await this.send("DOM.setFileInputFiles", { nodeId, files });
  }
  // paste sets the text of a field, and sends the events of a paste.
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
  // axe checks that axe-core finds nothing in the page.
  async axe(name) {
    if (await this.run("typeof axe") === "undefined") await this.run(`${AXE}; 0`);
    const found = await this.run(`axe.run().then(({ violations }) => violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html).join(" ").slice(0, 300)))`);
    assert.deepEqual(found, [], `${name}: accessibility`);
  }
  // shots checks the page at widths of 320, 390 and 1200 px. Nothing is wider than the
  // window. At 390 and 1200 px, light and dark, all text has enough contrast. At last axe
  // finds nothing.
  async shots(name) {
    for (const [width, dark] of [[320, false], [390, false], [1200, false], [390, true], [1200, true]]) {
      await this.size(width, dark);
      const [scrolls, has] = await this.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]");
      assert.ok(scrolls <= has, `${name} at ${width} px is ${scrolls} wide`);
      if (width === 320) continue;
      assert.deepEqual(await this.run(`(${faint})()`), [], `${name} at ${width} px, ${dark ? "dark" : "light"}: contrast`);
      if (!process.env.SHOTS) continue;
      mkdirSync(process.env.SHOTS, { recursive: true });
      const { data } = await this.send("Page.captureScreenshot", { captureBeyondViewport: true, format: "png" });
      writeFileSync(path.join(process.env.SHOTS, `${name}-${width}${dark ? "-dark" : ""}.png`), Buffer.from(data, "base64"));
    }
    await this.size(1200);
    await this.axe(name);
  }
  // piece keeps a picture of the page from one element to another, if SHOTS is set.
  async piece(name, from, to) {
    if (!process.env.SHOTS) return;
    await this.size(760);
    const clip = await this.run(`{ document.activeElement.blur(); scrollTo(0, 0); const a = document.querySelector(${JSON.stringify(from)}).getBoundingClientRect(), b = document.querySelector(${JSON.stringify(to)}).getBoundingClientRect();
      ({ x: 0, y: scrollY + a.top - 16, width: innerWidth, height: b.bottom - a.top + 24, scale: 1 }) }`);
    const { data } = await this.send("Page.captureScreenshot", { captureBeyondViewport: true, format: "png", clip });
    writeFileSync(path.join(process.env.SHOTS, `${name}.png`), Buffer.from(data, "base64"));
    await this.size(1200);
  }
  async stop() {
    this.send("Browser.close").catch(() => {});
    this.process.stdio[3].end(); // if the command fails, the browser ends with its pipe
    await this.exited;
  }
}

