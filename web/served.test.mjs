// Tests of the page as a daemon serves it, and as servers that lie serve it: links to a
// shuffle, and the key that a link can have.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { promisify } from "node:util";
import { HERE, PAGE, inBrowser, vector } from "./browser.mjs";

// daemon runs `shuffled serve --dev` and plays a hand: seat-1 gets two cards,
// the board three. It returns its address, its key, and the shuffle's id.
async function daemon(t, dir) {
  const binary = path.join(dir, "shuffled"), data = path.join(dir, "data");
  await promisify(execFile)("go", ["build", "-o", binary, "./cmd/shuffled"], { cwd: path.join(HERE, "..") });
  const child = spawn(binary, ["serve", "--dev", "--data", data, "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  t.after(async () => { child.kill("SIGTERM"); await ended; });
  let said = "";
  const base = await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => {
      said += chunk;
      const at = /serves the sandbox ledger "main" at (http:\S+)/.exec(said);
      if (at) resolve(at[1]);
    });
    ended.then(() => reject(new Error(said)));
  });
  const read = (name) => readFileSync(path.join(data, name), "utf8").trim();
  const ask = async (url, body) => {
    const answer = await fetch(`${base}/v1/main/shuffles${url}`, { method: "POST", body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", "Authorization": `Bearer ${read("dealer.token")}`, "Idempotency-Key": "hand-1" } });
    assert.ok(answer.ok, await answer.clone().text());
    return answer.json();
  };
  const { id } = await ask("", { table: "table-1", deck: "standard-52" });
  await ask(`/${id}/deal`, { first: 0, runs: [{ count: 2, purpose: "seat", recipient: "seat-1" }, { count: 3, purpose: "board", public: true }] });
  return { base, key: read("main.vkey"), id, close: () => ask(`/${id}/close`, { outcome: "completed" }) };
}

inBrowser("the page from a daemon", async (t, browser, dir) => {
  const { base, key, id, close } = await daemon(t, dir);
  const transcript = `${base}/v1/main/shuffles/${id}/transcript`;
  const press = (text) => browser.run(`[...document.querySelectorAll("#result button, #link button")].find((b) => b.textContent.includes(${JSON.stringify(text)})).click(), 0`);

  await t.test("a link to a shuffle that is still open", async () => {
    const r = await browser.visit(`${base}/#main/${id}`, transcript);
    assert.deepEqual([r.json.verdict, r.json.level, r.json.state, r.json.id], ["consistent", "key not pinned", "open", id]);
    assert.equal(r.cards.length, 3);
    assert.match(r.text, /came from 127\.0\.0\.1:[0-9]+: a server that lies can send both/);
    assert.equal(r.focus, "result-title");
    assert.match(await browser.run("document.querySelector('#link').innerText"), /Your own cards/);
    assert.equal(await browser.run("document.querySelector('#trust').value"), "");
    await browser.shots("link-open");
  });

  await t.test("a link to a closed one, and the key given by hand", async () => {
    await close();
    const r = await browser.visit(`${base}/#main/${id}`, transcript);
    assert.deepEqual([r.json.verdict, r.json.level, r.json.state, r.cards.length], ["consistent", "key not pinned", "closed", 5]);
    await browser.run(`document.querySelector("#trust").value = ${JSON.stringify(key)}, 0`);
    const again = await browser.judged(() => browser.run("document.querySelector('button[type=submit]').click(), 0"));
    assert.deepEqual([again.json.verdict, again.json.level], ["proved", "recorded"]);
    assert.match(again.text, /under the key you trust/);
    await browser.shots("link-closed");
  });

  await t.test("a key that the link brings is not used until told to", async () => {
    const r = await browser.visit(`${base}/#main/${id}&key=${encodeURIComponent(key)}`, transcript);
    assert.deepEqual([r.json.verdict, r.json.level], ["consistent", "key not pinned"]);
    assert.equal(await browser.run("document.querySelector('#trust').value"), "");
    assert.match(r.text, /It is not used: anyone who made the link chose it/);
    await browser.shots("link-key");
    const told = await browser.judged(() => press("I have compared it"));
    assert.equal(told.json.verdict, "proved");
    assert.match(told.text, /the key that came with the link, which you say you have compared/);
    const junk = await browser.visit(`${base}/#main/${id}&key=trust-me`, transcript);
    assert.match(junk.text, /something that is no verifier key\. It is not used/);
  });

  await t.test("what is not there, and what is no link", async () => {
    await browser.visit(`${base}/#main/${id}`, transcript);
    for (const [hash, says] of [[`#main/${id + 1000}`, "has no such ledger or shuffle"], ["#other/2", "has no such ledger or shuffle"],
      ["#127.0.0.1:1/main/2", "A copy of it on disk can ask others"], ["#main/0", "reads a ledger and the number"],
      ["#main/../keys", "reads a ledger and the number"], ["#%", "reads a ledger and the number"]]) {
      await browser.run(`location.hash = ${JSON.stringify(hash)}, 0`);
      await browser.until(`document.querySelector("#link").innerText.includes(${JSON.stringify(says)})`);
      assert.equal(await browser.run("document.querySelector('#result').hidden"), true, hash);
    }
  });

  await t.test("a regulator's copy of the page, and one on disk, ask the house that the link names", async () => {
    const copy = createServer((_, response) => response.setHeader("Content-Type", "text/html; charset=utf-8").end(readFileSync(path.join(HERE, "verify.html"))));
    await new Promise((resolve) => copy.listen(0, "127.0.0.1", resolve));
    t.after(() => { copy.closeAllConnections(); copy.close(); });
    for (const page of [`http://127.0.0.1:${copy.address().port}/`, PAGE]) {
      const r = await browser.visit(`${page}#${new URL(base).host}/main/${id}`, transcript);
      assert.deepEqual([r.json.verdict, r.json.state, r.json.id], ["consistent", "closed", id]);
      assert.match(r.text, /The file came from 127\.0\.0\.1:[0-9]+, and this page did not\./);
      await browser.run(`document.querySelector("#trust").value = ${JSON.stringify(key)}, 0`);
      const again = await browser.judged(() => browser.run("document.querySelector('button[type=submit]').click(), 0"));
      assert.deepEqual([again.json.verdict, again.json.level], ["proved", "recorded"]);
    }
    await browser.open(PAGE);
    await browser.run(`location.hash = "#main/${id}", 0`);
    assert.match(await browser.run("document.querySelector('#link').innerText"), /has to name the house’s server, too/);
  });

  await t.test("no other script runs, no other server is asked", async () => {
    await browser.open(`${base}/`);
    assert.equal(await browser.run(`{ const s = document.createElement("script"); s.textContent = "globalThis.ran = true"; document.body.append(s); } globalThis.ran === undefined`), true);
    const other = createServer((_, response) => response.setHeader("Access-Control-Allow-Origin", "*").end("x"));
    await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
    t.after(() => other.close());
    assert.equal(await browser.run(`fetch("http://127.0.0.1:${other.address().port}/").then(() => "answered", () => "refused")`), "refused");
  });
});

// liar starts a server that serves the page, and answers every other request as the test says.
async function liar(t) {
  const l = { answer: null };
  const server = createServer((request, response) => {
    if (request.url !== "/") return l.answer(response, request);
    response.setHeader("Content-Type", "text/html; charset=utf-8").end(readFileSync(path.join(HERE, "verify.html")));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => { server.closeAllConnections(); server.close(); });
  l.base = `http://127.0.0.1:${server.address().port}`;
  return l;
}

inBrowser("the page from a server that lies", async (t, browser) => {
  const l = await liar(t), good = vector("good", "closed");
  const follow = async (id) => {
    await browser.open(`${l.base}/`);
    await browser.run(`location.hash = "#main/${id}", 0`);
  };
  const followed = async (id) => {
    await browser.open(`${l.base}/`);
    return browser.judged(() => browser.run(`location.hash = "#main/${id}", 0`), `${l.base}/v1/main/shuffles/${id}/transcript`);
  };

  await t.test("another shuffle than the link names", async () => {
    l.answer = (response) => response.end(good.file);
    await follow(5);
    await browser.until(`document.querySelector("#link").innerText.includes("another shuffle, number 4")`);
    assert.equal(await browser.run("document.querySelector('#result').hidden"), true);
    await browser.shots("link-other");
  });

  await t.test("a secret value that the link brings is sent to nobody, kept nowhere, and not used until told to", async () => {
    const c = vector("good", "slots"), slot = c.trust.slots[0], asked = [], { id } = JSON.parse(c.file);
    l.answer = (response, request) => { asked.push(JSON.stringify([request.url, request.headers])); response.end(c.file); };
    const link = (value) => `${l.base}/#main/${id}&slot=${encodeURIComponent(value)}`;
    const r = await browser.visit(link(slot), `${l.base}/v1/main/shuffles/${id}/transcript`);
    assert.equal(await browser.run("location.href"), `${l.base}/#main/${id}`);
    assert.equal(await browser.run("document.querySelector('#slot').value"), "");
    assert.equal(r.steps[6], "not-checked");
    assert.match(r.text, /It is not used: it says something only to the player who chose it/);
    await browser.shots("link-slot");
    await browser.paste("trust", c.trust.policy);
    const told = await browser.judged(() => browser.run(`[...document.querySelectorAll("#result button")].find((b) => b.textContent.includes("I chose this value")).click(), 0`));
    assert.deepEqual([told.json.level, told.steps[6]], ["mixed", "ok"]);
    assert.ok(asked.length > 0 && asked.every((a) => !a.includes(slot.slice(0, 8)) && !a.includes("slot")), asked.join());
    const both = await browser.visit(`${l.base}/#main/${id}&slot=me&key=${encodeURIComponent(good.trust.vkey)}`, `${l.base}/v1/main/shuffles/${id}/transcript`);
    assert.match(both.text, /something that is no secret value\. It is not used/);
    assert.match(both.text, /The link also brings a key/);
    await browser.run(`location.hash = "#main/${id}&slot=a&slot=b", 0`);
    await browser.until(`document.querySelector("#link").innerText.includes("leads nowhere")`);
  });

  await t.test("a child's parent is a link away, without the secret value of the child", async () => {
    const c = vector("good", "child"), { id } = JSON.parse(c.file), parent = vector("good", "parent");
    l.answer = (response, request) => response.end(request.url.includes(`/${id}/`) ? c.file : parent.file);
    await browser.visit(`${l.base}/#main/${id}`, `${l.base}/v1/main/shuffles/${id}/transcript`);
    await browser.run(`document.querySelector("#slot").value = "x", 0`);
    const r = await browser.judged(() => browser.run(`document.querySelector(".ending a").click(), 0`), `${l.base}/v1/main/shuffles/${JSON.parse(parent.file).id}/transcript`);
    assert.equal(r.json.id, JSON.parse(parent.file).id);
    assert.equal(await browser.run("document.querySelector('#slot').value"), "");
  });

  await t.test("a tampered one, and something else altogether", async () => {
    for (const [file, failed] of [[vector("bad", "card-value").file, "openings"], ["<html>no</html>", "format"]]) {
      l.answer = (response) => response.end(file);
      const r = await followed(4);
      assert.equal(r.json.failed, failed);
    }
  });

  await t.test("an answer without end is read as far as a file may go", async () => {
    const chunk = Buffer.alloc(1 << 20, 0x61);
    let sent = 0, gone;
    const closed = new Promise((resolve) => { gone = resolve; });
    l.answer = (response) => {
      response.on("close", gone);
      response.write("{");
      const more = () => { while (!response.destroyed && response.write(chunk)) sent++; sent++; };
      response.on("drain", more);
      more();
    };
    const r = await followed(4);
    assert.equal(r.json.failed, "format");
    assert.match(r.text, /above 32 MiB/);
    await closed;
    assert.ok(sent < 200, `${sent} MiB were read`);
  });

  await t.test("refusals, redirections, silence", async () => {
    for (const [answer, says] of [
      [(response) => response.writeHead(503).end(), "cannot answer just now"],
      [(response) => response.writeHead(401).end(), "not open to everybody"],
      [(response) => response.writeHead(418).end(), "The server answers 418"],
      [(response) => response.writeHead(302, { Location: "/v1/elsewhere" }).end(), "does not answer"],
      [(response) => response.destroy(), "does not answer"],
    ]) {
      l.answer = answer;
      await follow(4);
      await browser.until(`document.querySelector("#link").innerText.includes(${JSON.stringify(says)})`);
    }
    l.answer = (response) => response.end(good.file);
    browser.log.length = 0;
    const r = await browser.judged(() => browser.run(`[...document.querySelectorAll("#link button")].find((b) => b.textContent === "Try again").click(), 0`), `${l.base}/v1/main/shuffles/4/transcript`);
    assert.equal(r.json.verdict, "consistent");
  });
});
