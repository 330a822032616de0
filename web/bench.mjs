// bench.mjs measures verify.html's verifier on the largest shuffles that
// docs/SPEC.md allows: node web/bench.mjs
//
// A process of its own judges each file: once to measure memory, and then for a
// second to measure time. Memory is the growth of the process at its peak,
// including garbage that is not collected yet.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import * as house from "./house.mjs";
import { load } from "./verify.mjs";

const ORIGIN = "house.example/main";
const MiB = 2 ** 20;
const REFUSED = "failed at format";
const { parts } = load();

// shuffle returns the file of a closed shuffle of n cards, with all cards opened, in this many deals.
async function shuffle(key, n, deals) {
  const deck = Array.from({ length: n }, (_, i) => `card ${i}`);
  const genesis = house.genesis(key), context = house.context({ origin: ORIGIN, genesis: parts.sha256(genesis), deck, n, m: n });
  let x = 7;
  const s = await house.shuffleOf(context, () => (x = Math.imul(x, 1664525) + 1013904223 | 0) >>> 24);
  const entries = [genesis, house.start(), house.commit(s)];
  for (let i = 0; i < deals; i++) entries.push(house.deal({ shuffle: 2, first: i * n / deals, cards: n / deals, final: i === deals - 1 ? 1 : 0 }));
  entries.push(house.close({ shuffle: 2, tape: s.tape }));
  const list = await house.receipts(ORIGIN, [key], entries, entries.map((_, i) => i).filter((i) => i !== 1));
  return house.transcript(2, deck, list, deck.map((_, i) => s.open(i, i, deck)));
}

async function make(dir) {
  const key = await house.newKey(ORIGIN);
  const write = (name, text) => { const file = path.join(dir, name); writeFileSync(file, text); return file; };
  const few = await shuffle(key, 52, 13), most = await shuffle(key, 4096, 4096);
  return [
    ["52 cards, 13 deals", write("few", few), key.vkey, "proved"],
    ["4,096 cards, one deal", write("one", await shuffle(key, 4096, 1)), key.vkey, "proved"],
    ["4,096 cards, 4,096 deals", write("most", most), key.vkey, "proved"],
    ["the same, its last byte lost", write("cut", most.slice(0, -1)), key.vkey, REFUSED],
    ["32 MiB of one string", write("string", `{"format":"shuffled/v1/transcript","id":2,"deck":["${"a".repeat(31.9 * MiB)}"`), key.vkey, REFUSED],
    ["a receipt with 700,000 hashes", write("hashes", `c2sp.org/tlog-proof@v1\nextra AAAA\nindex 0\n${`${"A".repeat(43)}=\n`.repeat(700000)}`), key.vkey, REFUSED],
  ];
}

async function measure(file, vkey) {
  const { verify } = load(), bytes = new Uint8Array(readFileSync(file));
  const before = process.resourceUsage().maxRSS;
  const { verdict, failed } = await verify(bytes, { vkey });
  const grew = (process.resourceUsage().maxRSS - before) / 1024;
  const times = [];
  for (const start = performance.now(); performance.now() - start < 1000;) {
    const t = performance.now();
    await verify(bytes, { vkey });
    times.push(performance.now() - t);
  }
  return { verdict: failed ? `${verdict} at ${failed}` : verdict, grew, ms: times.sort((a, b) => a - b)[times.length >> 1] };
}

if (process.argv[2] !== undefined) {
  process.stdout.write(JSON.stringify(await measure(process.argv[2], process.argv[3])));
} else {
  const dir = mkdtempSync(path.join(tmpdir(), "bench-"));
  try {
    console.log(`node ${process.version}\n${"file".padEnd(32)}${"MiB".padStart(7)}${"ms".padStart(9)}${"grew MiB".padStart(10)}  verdict`);
    for (const [name, file, vkey, want] of await make(dir)) {
      const m = JSON.parse(execFileSync(process.execPath, [fileURLToPath(import.meta.url), file, vkey], { encoding: "utf8" }));
      if (m.verdict !== want) throw new Error(`${name}: ${m.verdict}, where ${want} was to be measured`);
      console.log(`${name.padEnd(32)}${(statSync(file).size / MiB).toFixed(2).padStart(7)}${m.ms.toFixed(1).padStart(9)}${m.grew.toFixed(0).padStart(10)}  ${m.verdict}`);
    }
  } finally {
    rmSync(dir, { recursive: true });
  }
}
