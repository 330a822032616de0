// The program of docs/CLIENT.md, typed as it stands there.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { daemon } from "./daemon.mjs";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));

test("a first hand in TypeScript", { timeout: 120_000 }, async (t) => {
  const text = readFileSync(new URL("../../../docs/CLIENT.md", import.meta.url), "utf8");
  const [, program, said] = /```ts\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/.exec(text);
  const dir = mkdtempSync(path.join(tmpdir(), "docs-")),
    d = await daemon(t);
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(path.join(dir, "node_modules"));
  symlinkSync(PACKAGE, path.join(dir, "node_modules/shuffled"));
  symlinkSync(d.data, path.join(dir, "shuffled-data"));
  writeFileSync(path.join(dir, "package.json"), '{ "type": "module" }');
  writeFileSync(path.join(dir, "hand.ts"), program);
  const types = ["--typeRoots", path.join(PACKAGE, "node_modules/@types"), "--types", "node"];
  const tsc = path.join(PACKAGE, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [tsc, "--strict", "--target", "es2022", "--module", "nodenext", ...types, "hand.ts"], {
    cwd: dir,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const env = { ...process.env, SHUFFLED_URL: d.url };
  const { stdout } = await promisify(execFile)(process.execPath, ["hand.js"], { cwd: dir, env });
  assert.match(stdout, new RegExp(`^${said.replaceAll("…", "\\S+")}$`));
});
