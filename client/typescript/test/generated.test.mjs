// Tests that generated files are what their sources give.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { api } from "../scripts/api.mjs";
import { page } from "../scripts/page.mjs";
import { files } from "../scripts/words.mjs";

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");

test("web/verify.html is what its sources give: run npm run page", async () => {
  assert.ok(read("../../web/verify.html") === (await page()));
});

test("api.gen.ts is what the contract gives: run npm run api", async () => {
  assert.ok(read("src/client/api.gen.ts") === (await api()));
});

test("what words.txt says is in the verifier, the page and the console: run npm run page", () => {
  for (const [name, made] of Object.entries(files())) assert.ok(read(name) === made, name);
});
