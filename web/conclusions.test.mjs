// Tests that what a verdict concludes is the same on every surface: each code of internal/cli/audit/words.txt, as both
// implementations compute it, in the text, the JSON and the page, in each language: node --test web/
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "../client/typescript/node_modules/esbuild/lib/main.js";
import { words } from "../client/typescript/scripts/words.mjs";
import { HERE, PAGE, inBrowser, vector } from "./browser.mjs";
import { load } from "./verify.mjs";

const shuffled = load(), LANGUAGES = ["en", "es", "de", "ar"];
const GOOD = path.join(HERE, "..", "internal", "verify", "testdata", "vectors", "good");
const names = readdirSync(GOOD).filter((name) => name.endsWith(".json")).map((name) => name.replace(".json", "")).sort();
const spaced = (text) => text.split(/\s+/).join(" ");

const dir = mkdtempSync(path.join(tmpdir(), "conclusions-")), binary = path.join(dir, "shuffled");
process.on("exit", () => rmSync(dir, { recursive: true, force: true }));
execFileSync("go", ["build", "-o", binary, "./cmd/shuffled"], { cwd: path.join(HERE, "..") });

// run gives what shuffled verify prints of a vector.
async function run(name, { file, file_base64: raw, trust }, ...flags) {
  const write = (what, data) => { const f = path.join(dir, `${name}.${what}`); writeFileSync(f, data); return f; };
  const args = ["verify", write("json", raw ? Buffer.from(raw, "base64") : file), ...flags];
  if (trust.vkey) args.push("--key", trust.vkey);
  for (const [member, flag] of [["policy", "--policy"], ["co_dealer", "--co-dealer"], ["history", "--history"]]) if (trust[member]) args.push(flag, write(member, trust[member]));
  if (trust.deck) args.push("--deck", trust.deck);
  for (const key of trust.auditors ?? []) args.push("--auditor", key);
  for (const [i, value] of (trust.slots ?? []).entries()) args.push("--my-slot-file", write(`slot${i}`, value));
  return (await promisify(execFile)(binary, args, { maxBuffer: 2 ** 26 }).catch((e) => { if (e.code === 1 || e.code === 3) return e; throw e; })).stdout; // a lost tape fails
}

// trustOf gives the trust of a vector as the verifier takes it.
const trustOf = ({ vkey, policy, co_dealer: coDealer, history, deck, auditors, slots }) =>
  ({ vkey, policy, coDealer, history, deck, auditors, slots: slots?.map((value) => new Uint8Array(Buffer.from(value, "base64"))) });

// filled puts values into a sentence, as the text does.
const filled = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => [values[name]].flat().join(" and "));

const { ended, says, not } = words(), sentences = new Map([...ended, ...says, ...not]);
const concluded = new Map(); // by vector: what both conclude

// covering gives files that have each code, the one with most of the rest first.
function covering() {
  const left = new Set(sentences.keys()), chosen = [], gain = (name) => concluded.get(name).filter(({ code }) => left.has(code)).length;
  while (left.size > 0) {
    const best = [...concluded.keys()].sort((a, b) => gain(b) - gain(a))[0];
    assert.ok(gain(best) > 0, `conclusions of no vector: ${[...left]}`);
    concluded.get(best).forEach(({ code }) => left.delete(code));
    chosen.push(best);
  }
  return chosen;
}

test("both implementations conclude the same, and the text says it", async () => {
  assert.ok(names.length > 250);
  for (let i = 0; i < names.length; i += 4) await Promise.all(names.slice(i, i + 4).map(async (name) => {
    const c = vector("good", name), said = JSON.parse(await run(name, c, "--json"));
    const { verdict } = await shuffled.judge(c.file ?? new Uint8Array(Buffer.from(c.file_base64, "base64")), trustOf(c.trust)), ours = shuffled.conclude(verdict);
    assert.deepEqual((said.conclusions ?? []).map(({ values = {}, ...more }) => ({ ...more, values })), ours, name);
    if (verdict.verdict === "proved") concluded.set(name, ours);
  }));
  for (const name of covering()) {
    const text = spaced(await run(name, vector("good", name)));
    for (const { code, values } of concluded.get(name)) assert.ok(text.includes(filled(sentences.get(code).replaceAll("’", "'"), values)), `${name}: no ${code} in ${text}`);
  }
});

inBrowser("the page has each conclusion, in each language", async (t, browser) => {
  const chosen = covering();
  for (const language of LANGUAGES) {
    const { outputFiles } = await build({ entryPoints: [fileURLToPath(new URL(`../client/typescript/page/words/${language}.ts`, import.meta.url))], bundle: true, write: false, format: "esm" });
    const table = (await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString("base64")}`))[language].conclusions;
    for (const name of chosen) {
      const { file, trust } = vector("good", name);
      await browser.open(PAGE);
      await browser.run(`{ const s = document.querySelector("#language"); s.value = "${language}"; s.dispatchEvent(new Event("change")); } 0`);
      for (const [id, text] of [["trust", trust.policy ?? trust.vkey ?? ""], ["co-dealer", trust.co_dealer ?? ""], ["auditors", (trust.auditors ?? []).join("\n")], ["slot", (trust.slots ?? []).join(" ")]]) if (text) await browser.paste(id, text);
      await browser.judged(() => browser.drop(`${name}.json`, file));
      const said = spaced(await browser.run(`document.querySelector("#result").textContent`));
      for (const { code } of concluded.get(name)) for (const part of table[code].split(/\{\w+\}/)) assert.ok(said.includes(spaced(part).trim()), `${language}, ${name}: no ${code}`);
    }
  }
});
