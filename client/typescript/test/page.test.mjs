// The page is what its sources give.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { page } from "../scripts/page.mjs";

test("web/verify.html is what its sources give: run npm run page", async () => {
  assert.ok(readFileSync(new URL("../../../web/verify.html", import.meta.url), "utf8") === await page());
});
