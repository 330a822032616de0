// lines.mjs judges one file a line, for tests of other implementations:
//
//	{"file": base64, "vkey": text} or {"file": …, "policy": base64} or {"file": …}
//
// Each is on a line of standard input. Further members can be "slots": [base64, …],
// "auditors": [text, …], "co_dealer": base64, "history": base64 and "deck": text. For each line it
// writes a line with the verdict (docs/SPEC.md section 10.4) and the milliseconds that it took.
import { createInterface } from "node:readline";
import { load } from "./verify.mjs";

const { verify } = load();
const bytes = (base64) => base64 === undefined ? undefined : new Uint8Array(Buffer.from(base64, "base64"));

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { file, vkey, policy, slots, auditors, co_dealer, history, deck } = JSON.parse(line), start = performance.now();
  const verdict = await verify(bytes(file ?? ""), { vkey, policy: bytes(policy), slots: slots?.map(bytes), auditors, coDealer: bytes(co_dealer), history: bytes(history), deck });
  process.stdout.write(`${JSON.stringify({ verdict, ms: performance.now() - start })}\n`);
}
