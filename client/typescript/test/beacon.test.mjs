// Tests of a mix with a beacon: only the signature of the planned round is accepted.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { Committed } from "../dist/client/committed.js";
import { parseEntry } from "../dist/verify/entries.js";

const VECTORS = new URL("../../../internal/verify/testdata/vectors/", import.meta.url);

// mixed gives the shuffle of a vector's file before its mix, and the mix.
function mixed(name) {
  const { file } = JSON.parse(readFileSync(new URL(`${name}.json`, VECTORS), "utf8"));
  const bytes = JSON.parse(file).receipts.map((r) => new Uint8Array(Buffer.from(/^extra (.*)$/m.exec(r)[1], "base64")));
  const entries = bytes.map((b) => parseEntry(b)),
    at = entries.findIndex((e) => e.commit);
  const { commit, time, identity } = entries[at];
  return [new Committed({}, commit, bytes[at], new Uint8Array(32), time, identity), entries.find((e) => e.mix).mix];
}

test("a mix whose beacon's value is the planned round's, and others", async () => {
  for (const name of ["good/level-mixed", "good/level-mixed-numbers", "good/level-mixed-both", "good/slots"]) {
    const [s, mix] = mixed(name);
    assert.equal(await s.takeMix(mix), "", name);
    assert.equal(s.order.length, s.places, name);
  }
  for (const name of ["other-round", "order-3", "infinity", "other-plan", "bit"]) {
    const [s, mix] = mixed(`bad/beacon-${name}`);
    assert.match(await s.takeMix(mix), /not the signature of its round/, name);
    assert.deepEqual([s.order, s.mix], [null, null], name);
  }
});
