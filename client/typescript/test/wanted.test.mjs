// Tests of what differs between a commit and the request for it.
import assert from "node:assert/strict";
import test from "node:test";
import { differs, keyTag } from "../dist/client/wanted.js";
import { PUBLIC, codeOf } from "../dist/verify/codes.js";

const AUDITOR = codeOf("disclosure", "auditor"),
  OTHERS = "it is disclosed to others";

// made gives a commit with what differs looks at first.
const made = (context) => ({
  context: { table: "t", origin: "example.com/main", plan: [], disclosure: PUBLIC, ...context },
  commit: { key_tag: keyTag("example.com/main", "dealer", "t", "k") },
  owner: "dealer",
  gameRef: "another",
});
const asked = (s, req, parent) => differs(s, "k", { table: "t", ...req }, parent);

test("a child is disclosed as its parent is, unless the request says otherwise", () => {
  const parent = made({});
  assert.equal(asked(made({ disclosure: AUDITOR }), {}, parent), OTHERS);
  assert.equal(asked(made({ disclosure: PUBLIC }), {}, made({ disclosure: AUDITOR })), OTHERS);
  assert.notEqual(asked(made({}), {}, parent), OTHERS);
  assert.notEqual(asked(made({ disclosure: AUDITOR }), { disclosure: "auditor" }, parent), OTHERS);
  assert.notEqual(asked(made({ disclosure: AUDITOR }), {}), OTHERS);
});
