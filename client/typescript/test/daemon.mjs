// Sandbox daemons for the tests, of the real program, which is built once for all tests of a file.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { Client } from "../dist/index.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const dir = mkdtempSync(path.join(tmpdir(), "client-"));
process.on("exit", () => rmSync(dir, { recursive: true, force: true }));
let built;

// binary builds the daemon once, or gives the one in SHUFFLED_PROGRAMS.
function binary() {
  if (process.env.SHUFFLED_PROGRAMS) return Promise.resolve(path.join(process.env.SHUFFLED_PROGRAMS, "shuffled"));
  const file = path.join(dir, "shuffled");
  return (built ??= promisify(execFile)("go", ["build", "-o", file, "./cmd/shuffled"], { cwd: ROOT }).then(() => file));
}

// daemon runs `shuffled serve --dev` with a new ledger until the test is over.
export const daemon = (t) => start(t, mkdtempSync(path.join(dir, "data-")));

// start runs the daemon with the ledger in a directory.
export async function start(t, data) {
  const child = spawn(await binary(), ["serve", "--dev", "--data", data, "--listen", "127.0.0.1:0"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  t.after(stop);
  let said = "";
  const url = await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        said += chunk;
        const at = /serves the sandbox ledger "main" at (http:\S+)/.exec(said);
        if (at) resolve(at[1]);
      });
    ended.then(() => reject(new Error(said)));
  });
  const read = (name) => readFileSync(path.join(data, name), "utf8").trim();
  const vkey = read("main.vkey"),
    token = read("dealer.token");
  return {
    url,
    vkey,
    token,
    data,
    stop,
    client: (more = {}) => new Client({ url, ledger: "main", token, vkey, pause: 1, maxPause: 20, ...more }),
  };
}
