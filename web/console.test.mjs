// Tests of the operators' console on a real daemon: node --test web/console.test.mjs
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { HERE, inBrowser } from "./browser.mjs";

// daemon starts a sandbox. It returns its address, its tokens and a function that sends requests.
async function daemon(t, dir) {
  const binary = path.join(dir, "shuffled"), data = path.join(dir, "data");
  execFileSync("go", ["build", "-o", binary, "./cmd/shuffled"], { cwd: path.join(HERE, "..") });
  const process = spawn(binary, ["serve", "--dev", "--data", data, "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "ignore"] });
  const exited = new Promise((resolve) => process.on("exit", resolve));
  t.after(async () => { process.kill(); await exited; });
  let said = "";
  const base = await new Promise((resolve, reject) => {
    exited.then(() => reject(new Error(`the daemon ended: ${said}`)));
    process.stdout.on("data", (chunk) => {
      const at = /serves the sandbox ledger .* at (http\S+)/.exec(said += chunk);
      if (at) resolve(at[1]);
    });
  });
  const token = (role) => readFileSync(path.join(data, `${role}.token`), "utf8").trim();
  const ask = async (role, where, body) => {
    const answer = await fetch(`${base}/v1/main/${where}`, { method: "POST", body: JSON.stringify(body),
      headers: { Authorization: `Bearer ${token(role)}`, "Content-Type": "application/json", "Idempotency-Key": randomUUID() } });
    assert.equal(answer.status, 200, await answer.clone().text());
    return answer.json();
  };
  return { base, token, ask };
}

inBrowser("the console", async (t, browser, dir) => {
  const d = await daemon(t, dir);
  const first = await d.ask("dealer", "shuffles", { table: "table-1", deck: "standard-52", game_ref: "game-1" });
  await d.ask("dealer", `shuffles/${first.id}/deal`, { first: 0, runs: [{ count: 2, purpose: "seat", recipient: "seat-1" }] });
  await browser.open(`${d.base}/console`);
  await browser.until(`document.querySelector("#health").innerText.includes("Ledger main: ready")`);
  const connect = (token) => browser.run(`{ document.querySelector("#token").value = ${JSON.stringify(token)}; document.querySelector("#form").requestSubmit(); } 0`);
  const text = (id) => browser.run(`document.getElementById(${JSON.stringify(id)}).innerText`);
  const shows = (id, words) => browser.until(`document.getElementById(${JSON.stringify(id)}).innerText.includes(${JSON.stringify(words)})`);

  await t.test("a token that is wrong", async () => {
    await connect("tok_aaaaaaaaaaaaaaaa.wrong");
    await shows("status", "The daemon refuses");
    assert.equal(await browser.run(`document.querySelector("#live").hidden`), true);
  });
  for (const role of ["auditor", "regulator", "admin"]) {
    await t.test(`what stands, for the role ${role}`, async () => {
      await connect(d.token(role));
      await shows("status", "Connected to main");
      await shows("open", "table-1");
      await shows("events", "dealt");
      assert.match(await text("open-note"), /^1 open, 0 overdue\.$/);
      assert.match(await text("open"), new RegExp(`table-1\\s+${first.id}\\s+1\\s+\\S+\\s+standard-52\\s+game-1\\s+2\\s`));
      assert.match(await text("stops"), /No switch is set/);
    });
  }
  await t.test("what happens, as it happens", async () => {
    const second = await d.ask("dealer", "shuffles", { table: "table-2", deck: "standard-52" });
    await shows("open", "table-2");
    await d.ask("admin", "switches", { scope: "table", table: "table-9", reason: "camera fault" });
    await shows("stops", "table-9");
    await browser.shots("console");
    await d.ask("dealer", `shuffles/${first.id}/close`, { outcome: "ended_early" });
    await d.ask("dealer", `shuffles/${second.id}/deal`, { first: 0, runs: [{ count: 3, purpose: "board", public: true }], close: { outcome: "completed" } });
    await shows("open-note", "0 open");
    assert.match(await text("tables"), /table-1\s+open\s+1\s+0\s+\S+( [AP]M)?\s+0\s+1\s+1 100\.0 %\s+0 0\.0 %\s+0 0\.0 %/);
    assert.match(await text("rates"), /^[1-9]\d* entries/);
  });
  await t.test("void hands by table and by service, in words, with a link to each hand, and what the filter shows", async () => {
    const void1 = await d.ask("dealer", "shuffles", { table: "table-3", deck: "standard-52" }), open = await d.ask("dealer", "shuffles", { table: "table-4", deck: "standard-52" });
    await d.ask("dealer", `shuffles/${void1.id}/close`, { outcome: "void", reason: "misdeal" });
    await shows("events", "void: it was dealt wrongly");
    assert.match(await text("services"), /\w+\s+3\s+1 33\.3 %\s+1 33\.3 %\s+0 0\.0 %/);
    const type = (id, value) => browser.run(`{ const f = document.querySelector("#${id}"); f.value = ${JSON.stringify(value)}; f.dispatchEvent(new Event("input")); } 0`);
    await type("page", d.base);
    assert.equal(await browser.run(`document.querySelector("#open a").href`), `${d.base}/#main/${open.id}`);
    await type("page", "javascript:alert(1)");
    assert.equal(await browser.run(`document.querySelectorAll("#open a").length`), 0);
    await type("filter", "table-3");
    assert.doesNotMatch(await text("tables"), /table-1/);
    assert.match(await text("tables"), /table-3/);
    await type("filter", "dealt wrongly");
    assert.match(await text("events"), /^\S.*table table-3, .*void: it was dealt wrongly.*$/);
    await type("filter", "");
    await browser.shots("console-void");
    const bundle = path.join(dir, "bundle"), run = (...args) => execFileSync(path.join(dir, "shuffled"), args, { encoding: "utf8" });
    run("audit", "export", "--data", path.join(dir, "data"), "--out", bundle);
    const day = new Date().toISOString().slice(0, 7), list = path.join(dir, "void.jsonl");
    const said = run("audit", "verify", bundle, "--key", path.join(dir, "data", "main.vkey"), "--from", day, "--shuffles", list, "--outcome", "void");
    assert.match(said, /void\.jsonl lists 1 shuffle: 1 of \w+\n/);
    assert.match(said, /Why shuffles are void:\n +1 shuffle at table table-3: it was dealt wrongly/);
    const { owner, shuffled, outcome, reason } = JSON.parse(readFileSync(list, "utf8"));
    assert.deepEqual([shuffled, outcome, reason, owner !== ""], ["52 of 52 cards of standard-52", "void", "misdeal", true]);
  });
  await t.test("no token is kept, and nothing else is asked for", async () => {
    assert.deepEqual(await browser.run("[localStorage.length, sessionStorage.length, document.cookie]"), [0, 0, ""]);
    const reads = `${d.base}/(readyz|v1/main/(tables|shuffles|switches|acts|events)\\b)`;
    // Only two requests fail: with a wrong token, and the list of shuffles with the token of an admin.
    const fine = new RegExp(`^asked for ${reads}|^Failed to load resource: .* (401 .*${reads}|403 .*/v1/main/shuffles\\?)`);
    for (const line of browser.log) assert.match(line, fine);
  });
  await t.test("the icon is in the page, and no browser asks for /favicon.ico", async () => {
    const width = await browser.run(`new Promise((resolve, reject) => {
      const icon = new Image();
      icon.onload = () => resolve(icon.naturalWidth);
      icon.onerror = () => reject(new Error("the icon does not load under the page's policy"));
      icon.src = document.querySelector("link[rel=icon]").getAttribute("href");
      if (!icon.src.startsWith("data:")) reject(new Error("the icon is elsewhere"));
    })`);
    assert.ok(width > 0);
  });
});
