// Tests of what a client accepts from its state, with keys of both algorithms.
import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import test from "node:test";
import { ml_dsa44 } from "@noble/post-quantum/ml-dsa.js";
import { Committed } from "../dist/client/committed.js";
import { proveClose } from "../dist/client/proofs.js";
import { NO_TAPE, PUBLIC, TAPE_LOST, VOID } from "../dist/verify/codes.js";
import { Client } from "../dist/index.js";
import { Log } from "../dist/client/log.js";
import { readCheckpoint } from "../dist/verify/checkpoint.js";
import { noteKey } from "../dist/verify/keys.js";
import { cosignedMessage } from "../dist/verify/mldsa.js";

const ORIGIN = "example.com/main";
const base64 = (bytes) => Buffer.from(bytes).toString("base64");
const vkey = (k) => `${k.name}+${k.id}+${base64(k.typed)}`;
const line = (k, bytes) => `\u2014 ${k.name} ${base64(Buffer.concat([Buffer.from(k.id, "hex"), bytes]))}\n`;

function signers() {
  const ed = generateKeyPairSync("ed25519"),
    long = ml_dsa44.keygen(crypto.getRandomValues(new Uint8Array(32)));
  const edKey = noteKey(ORIGIN, new Uint8Array([1, ...ed.publicKey.export({ type: "spki", format: "der" }).subarray(12)])),
    longKey = noteKey(ORIGIN, new Uint8Array([6, ...long.publicKey]));
  const text = `${ORIGIN}\n1\n${base64(new Uint8Array(32))}\n`,
    short = `${text}\n${line(edKey, sign(null, Buffer.from(text), ed.privateKey))}`;
  const c = readCheckpoint(new TextEncoder().encode(short)),
    time = new Uint8Array(8);
  const sig = ml_dsa44.sign(cosignedMessage(c, ORIGIN, time), long.secretKey);
  return { edKey, longKey, short, both: short + line(longKey, Buffer.concat([time, sig])) };
}

test("a state under a key of ML-DSA-44, and one from before that key was pinned", async () => {
  const { edKey, longKey, short, both } = signers();
  const remember = (newest, ...keys) =>
    new Log({ load: async () => JSON.stringify({ newest }), save: async () => {} }, async () => {}).remember(keys);
  await remember(both, longKey);
  await remember(both, edKey, longKey);
  await remember(short, edKey, longKey);
  await assert.rejects(remember(short, longKey), /not signed by the pinned key/);
  const c = new Client({ url: "http://127.0.0.1:1", ledger: "main", vkey: vkey(longKey) });
  assert.equal(c.origin, ORIGIN);
});

test("a close discloses no tape for the reason tape_lost, if that was asked for, and at any time", async () => {
  const s = Object.assign(Object.create(Committed.prototype), { id: 1, time: 1, commit: { close_by: 5 } });
  s.context = { disclosure: PUBLIC };
  const closed = (reason, asked, time) => {
    const close = { shuffle: 1, outcome: VOID, reason, form: NO_TAPE },
      l = { prove: async () => ({ index: 2, entry: { time, close } }), own() {} };
    return proveClose(l, s, { outcome: "void", reason: asked }, { receipt: "", time: "" }, null, {}, "");
  };
  await closed(TAPE_LOST, "tape_lost", 3);
  await closed(TAPE_LOST, "tape_lost", 5);
  await assert.rejects(closed(TAPE_LOST, "misdeal", 3), /another one/);
  await assert.rejects(closed(1, "misdeal", 3), /not disclosed/);
  await assert.rejects(closed(1, "misdeal", 5), /another one/);
});
