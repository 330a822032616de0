// Tests of what differs between a commit and the request for it, and of what a client is made with.
import assert from "node:assert/strict";
import test from "node:test";
import { Client } from "../dist/index.js";
import { openAll } from "../dist/client/shown.js";
import { differs, keyTag } from "../dist/client/wanted.js";
import { PUBLIC, codeOf } from "../dist/verify/codes.js";

const VKEY = "sandbox.example/main+40d65965+ASzBh0oxeJDnSNeggGoTcJn8zE8Q9G/VIvu+97aA8kCu",
  AUDITOR = codeOf("disclosure", "auditor"),
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

test("an order for another ledger is another commit than one for nobody", () => {
  const other = "it is an order for another ledger",
    for_ledger = "example.com/house";
  assert.equal(asked(made({ for_ledger }), {}), other);
  assert.equal(asked(made({}), { for_ledger }), other);
  assert.equal(asked(made({ for_ledger: "example.com/h" }), { for_ledger }), other);
  assert.notEqual(asked(made({ for_ledger }), { for_ledger }), other);
});

test("a card beyond the deck has no name, and is refused", () => {
  const salt = Buffer.alloc(32).toString("base64"),
    open = (deck, value, card) =>
      openAll({ isDraw: !deck, deck, open: () => "" }, { cards: [{ place: 0, position: 0, value, salt, proof: [], card }] }, "");
  open(["a", "b"], 1, "b");
  open(undefined, 1);
  for (const [deck, value, card] of [[["a", "b"], 2], [["a", "b"], 1], [["a", "b"], 1, "a"], [undefined, 1, "a"]])
    assert.throws(() => open(deck, value, card), /another card's name/);
});

test("a token that cannot be sent is refused, and not repeated", () => {
  for (const token of ["tok_a.secret\u2026", "tok_a.secret\n", "tok_a. secret"])
    assert.throws(
      () => new Client({ url: "http://127.0.0.1:1", ledger: "main", vkey: VKEY, token }),
      (e) => e.code === "caller" && /the token has/.test(e.sentence) && !`${e.stack}`.includes("secret"),
    );
});
