// Tests of the package in an empty project: in Node, with types, and bundled for a browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { build } from "esbuild";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const VECTOR = new URL("../../../internal/verify/testdata/vectors/good/standard-52.json", import.meta.url);
const PROGRAM = `import { Client, verify, newKey } from "shuffled";
export const run = async (file: string, vkey: string): Promise<string> => {
  const c = new Client({ url: "http://127.0.0.1:1", ledger: "main", vkey });
  return [(await verify(file, { vkey })).verdict, c.origin, String(newKey().length)].join(" ");
};
`;

test("npm pack, and an import from an empty project", { timeout: 300_000 }, async (t) => {
  const dir = mkdtempSync(path.join(tmpdir(), "pack-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const sh = (command, args, cwd = dir) =>
    execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const [{ filename, files }] = JSON.parse(
    sh("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", dir], PACKAGE),
  );
  assert.ok(
    files.every(({ path: p }) => /^(dist\/.*\.(js|d\.ts)|package\.json|README\.md|LICENSE|NOTICE)$/.test(p)),
    "something else is in the package",
  );
  for (const name of ["LICENSE", "NOTICE"]) assert.ok(files.some(({ path: p }) => p === name), `no ${name}`);
  writeFileSync(path.join(dir, "package.json"), `{ "type": "module", "private": true }`);
  // What the package needs also comes from files, and not from a registry or from npm's cache.
  const { packages } = JSON.parse(readFileSync(path.join(PACKAGE, "package-lock.json"), "utf8"));
  const needed = Object.keys(packages).filter((name) => name !== "" && !packages[name].dev);
  const packed = JSON.parse(
    sh("npm", ["pack", "--json", "--ignore-scripts", ...needed.map((name) => path.join(PACKAGE, name))]),
  );
  const archives = [filename, ...packed.map((p) => p.filename)].map((name) => path.join(dir, name));
  sh("npm", ["install", "--offline", "--cache", path.join(dir, "cache"), "--no-audit", "--no-fund", ...archives]);
  const { file, trust } = JSON.parse(readFileSync(VECTOR, "utf8")),
    wanted = `proved ${trust.vkey.split("+")[0]} 36`;

  writeFileSync(path.join(dir, "run.ts"), PROGRAM);
  const compilerOptions = { strict: true, target: "es2022", lib: ["es2022", "dom"], types: [], module: "nodenext" };
  writeFileSync(path.join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["run.ts"] }));
  sh(process.execPath, [path.join(PACKAGE, "node_modules/typescript/bin/tsc")]);
  writeFileSync(
    path.join(dir, "main.js"),
    `import { run } from "./run.js";\nimport "shuffled/node";\n` +
      `process.stdout.write(await run(${JSON.stringify(file)}, ${JSON.stringify(trust.vkey)}));\n`,
  );
  assert.equal(sh(process.execPath, ["main.js"]), wanted);

  const {
    outputFiles: [bundle],
  } = await build({
    absWorkingDir: dir,
    entryPoints: ["run.ts"],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "made",
    platform: "browser",
  });
  const browser = vm.createContext({
    crypto,
    TextEncoder,
    TextDecoder,
    Uint8Array,
    URL,
    fetch,
    atob,
    btoa,
    AbortSignal,
    DOMException,
    setTimeout,
    clearTimeout,
    Error,
    TypeError,
  });
  assert.equal(await vm.runInContext(`${bundle.text}\nmade.run`, browser)(file, trust.vkey), wanted);
  t.diagnostic(`${files.length} files, bundled: ${bundle.text.length} bytes`);
});
