// Tests of a table that the page follows, on a daemon and on a mirror of its log: node --test web/follow.test.mjs
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { HERE, inBrowser } from "./browser.mjs";

inBrowser("a table that is followed", async (t, browser, dir) => {
  const binary = path.join(dir, "shuffled"), data = path.join(dir, "data"), mirror = path.join(dir, "mirror");
  execFileSync("go", ["build", "-o", binary, "./cmd/shuffled"], { cwd: path.join(HERE, "..") });
  const child = spawn(binary, ["serve", "--dev", "--data", data, "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "ignore"] });
  const exited = new Promise((resolve) => child.on("exit", resolve));
  t.after(async () => { child.kill(); await exited; });
  let said = "";
  const base = await new Promise((resolve, reject) => {
    exited.then(() => reject(new Error(said)));
    child.stdout.on("data", (chunk) => { const at = /serves the sandbox ledger .* at (http\S+)/.exec(said += chunk); if (at) resolve(at[1]); });
  });
  const read = (name) => readFileSync(path.join(data, name), "utf8").trim();
  const ask = async (url, body) => {
    const answer = await fetch(`${base}/v1/main/shuffles${url}`, { method: "POST", body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${read("dealer.token")}`, "Idempotency-Key": randomUUID() } });
    assert.ok(answer.ok, await answer.clone().text());
    return answer.json();
  };
  const hand = async (table, close) => {
    const { id } = await ask("", { table, deck: "standard-52" });
    await ask(`/${id}/deal`, { first: 0, runs: [{ count: 3, purpose: "board", public: true }] });
    await ask(`/${id}/close`, close);
    return id;
  };
  const list = () => browser.run(`[...document.querySelectorAll(".followed li")].map((li) => [li.className, li.innerText])`);
  const link = (words) => browser.until(`document.querySelector("#link").innerText.includes(${JSON.stringify(words)})`);
  const follow = async (at) => {
    await browser.open(`${at}/`);
    await browser.paste("trust", read("main.vkey"));
    await browser.run(`location.hash = "#main/table-1", 0`);
  };

  await t.test("newest first, each under the reader's key, and no other table's", async () => {
    await follow(base);
    await link("No hand of this table has closed yet");
    await hand("table-1", { outcome: "completed" });
    await hand("table-2", { outcome: "completed" });
    await link("is judged when it closes. The newest stand here, newest first: 1.");
    await hand("table-1", { outcome: "void", reason: "misdeal" });
    await link("newest first: 2.");
    const [[first, newest], [second, oldest]] = await list();
    assert.deepEqual([first, second], ["consistent", "proved"]);
    assert.match(newest, /^table-1, number 2: A void hand, void, /);
    assert.match(oldest, /^table-1, number 1: Proved, completed, /);
    await browser.shots("followed");
    // Check without a file judges the hands of the table anew, under the key that is in the field now.
    for (const [key, kind] of [["", "consistent"], [read("main.vkey"), "proved"]]) {
      await browser.paste("trust", key);
      await browser.run(`document.querySelector("#form").requestSubmit(), 0`);
      await browser.until(`[...document.querySelectorAll(".followed li")].map((li) => li.className).join() === "consistent,${kind}"`);
    }
    assert.ok(browser.log.every((line) => /asked for http:\/\/127\.0\.0\.1:\d+\/(#.*|log\/main\/(checkpoint|tile\/entries\/\S+)|v1\/main\/shuffles\/\d+\/transcript)?$/.test(line)), browser.log.join("\n"));
  });

  await t.test("a mirror of the log, and a hand that does not hold", async () => {
    const copy = () => execFileSync(binary, ["audit", "export", "--data", data, "--out", mirror]);
    copy();
    let forged = false, down = false;
    const server = createServer(async (request, response) => {
      if (down) return response.writeHead(503).end();
      const { pathname } = new URL(request.url, base), file = path.join(mirror, pathname.replace("/log/main/", ""));
      if (pathname.startsWith("/log/main/")) return existsSync(file) ? response.end(readFileSync(file)) : response.writeHead(404).end();
      const answer = await fetch(base + pathname), body = Buffer.from(await answer.arrayBuffer());
      response.writeHead(answer.status, { "Content-Type": answer.headers.get("content-type") });
      response.end(forged && pathname.endsWith("/transcript") ? body.toString().replace(/"value":(\d+)/, (_, n) => `"value":${(Number(n) + 1) % 52}`) : body);
    }).listen(0, "127.0.0.1");
    t.after(() => { server.closeAllConnections(); server.close(); });
    await new Promise((resolve) => server.once("listening", resolve));
    await follow(`http://127.0.0.1:${server.address().port}`);
    await link("newest first: 2.");
    // While the server does not answer, more hands close than are read at the start. None is left out.
    down = true;
    await link("This server cannot answer just now");
    assert.equal((await list()).length, 2);
    for (let i = 0; i < 12; i++) await hand("table-1", { outcome: "completed" });
    copy();
    down = false;
    await link("newest first: 14.");
    await browser.until(`!document.querySelector("#link").innerText.includes("This server cannot answer just now")`);
    forged = true;
    const id = await hand("table-1", { outcome: "completed" });
    copy();
    await link(`Stopped: shuffle ${id} does not hold.`);
    assert.deepEqual((await list()).map(([kind]) => kind), ["failed", ...Array(12).fill("proved"), "consistent", "proved"]);
    await browser.shots("followed-stopped");
    forged = false;
    await hand("table-1", { outcome: "completed" });
    copy();
    await new Promise((resolve) => setTimeout(resolve, 6000)); // more than one look at the log: nothing may come
    assert.equal((await list()).length, 15);
  });
});
