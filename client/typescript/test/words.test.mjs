// Tests that the page's languages have the same strings, and that no string stands elsewhere.
import { build } from "esbuild";
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const PAGE = new URL("../page/", import.meta.url);
const read = (name) => readFileSync(new URL(name, PAGE), "utf8");
const names = readdirSync(new URL("words/", PAGE)).filter((name) => !name.includes(".gen.")).map((name) => name.replace(".ts", ""));

// words gives the table of a language.
async function words(name) {
  const { outputFiles } = await build({ entryPoints: [fileURLToPath(new URL(`words/${name}.ts`, PAGE))], bundle: true, write: false, format: "esm" });
  return (await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString("base64")}`))[name];
}

// flat lists the strings and functions of a table by their paths.
const flat = (table, at = "") => Object.entries(table).flatMap(([key, value]) => typeof value === "object" ? flat(value, `${at}${key}.`) : [[at + key, value]]);
const braces = (text) => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();
const SAME = ["hash", "bytes"]; // words that two languages share

test("no language lacks a string", async () => {
  assert.ok(names.includes("en") && names.length >= 4, names.join());
  const english = new Map(flat(await words("en")));
  assert.ok(english.size > 250);
  for (const name of names.filter((n) => n !== "en")) {
    const theirs = new Map(flat(await words(name)));
    assert.deepEqual([...theirs.keys()].sort(), [...english.keys()].sort(), name);
    for (const [key, text] of theirs) {
      const ours = english.get(key);
      assert.equal(typeof text, typeof ours, `${name}: ${key}`);
      if (typeof text === "function") continue;
      assert.notEqual(text.trim(), "", `${name}: ${key}`);
      assert.deepEqual(braces(text), braces(ours), `${name}: ${key}`);
      assert.ok(text !== ours || SAME.includes(key) || !/\p{L}{2}/u.test(text), `${name}: ${key} is English: ${text}`);
    }
  }
});

// CODED says where the words of a list of codes stand, of SPEC section 15 or of a member of the verdict in the contract.
const CODED = { reason: "reasons", outcome: "outcomes", purpose: "purposes", not_blind: "conclusions" };

test("each code that a verdict has is in words", async () => {
  const { outputFiles } = await build({ entryPoints: [fileURLToPath(new URL("../src/verify/codes.gen.ts", PAGE))], bundle: true, write: false, format: "esm" });
  const { CODES } = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString("base64")}`);
  const contract = readFileSync(new URL("../../../internal/httpapi/openapi.yaml", PAGE), "utf8").split("    Verdict:\n")[1];
  for (const [list, table] of Object.entries(CODED)) {
    const codes = CODES[list] ? Object.values(CODES[list].names) : new RegExp(`^        ${list}:\\n.*\\n *enum: \\[(.*)\\]`, "m").exec(contract)[1].split(", ");
    assert.ok(codes.length > 3, list);
    for (const name of names) {
      const theirs = (await words(name))[table];
      for (const code of codes) assert.ok(Object.hasOwn(theirs, code), `${name}: ${code} of ${list}`);
    }
  }
});

test("a language that lacks a string does not compile", () => {
  const config = ts.readConfigFile(fileURLToPath(new URL("../tsconfig.json", PAGE)), ts.sys.readFile).config;
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, fileURLToPath(new URL("..", PAGE)));
  const file = fileURLToPath(new URL("words/de.ts", PAGE)), host = ts.createCompilerHost(options), get = host.getSourceFile;
  const faults = (change) => {
    host.getSourceFile = (name, ...more) => name === file ? ts.createSourceFile(name, change(readFileSync(file, "utf8")), options.target) : get(name, ...more);
    return ts.createProgram([file], { ...options, noEmit: true }, host).getSemanticDiagnostics().map((d) => ts.flattenDiagnosticMessageText(d.messageText, "\n"));
  };
  const found = faults((text) => text.replace(/^ {4}inclusion: .*$/m, "").replace(/^ {4}misdeal: .*$/m, ""));
  assert.match(found.join(), /Property 'inclusion' is missing/);
  assert.match(found.join(), /Property 'misdeal' is missing/);
});

test("no words stand in the page outside of its languages", () => {
  for (const name of readdirSync(PAGE).filter((n) => n.endsWith(".ts"))) {
    const source = ts.createSourceFile(name, read(name), ts.ScriptTarget.Latest, true);
    const visit = (node) => {
      if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node)) {
        const { parent, text } = node, call = ts.isCallExpression(parent) ? parent.expression.getText() : "", at = call && parent.arguments.indexOf(node);
        const shown = call === "el" ? at >= 2 : call === "button" ? at === 0 : call === "say" || call === "showLink";
        const attribute = ts.findAncestor(parent, (n) => ts.isPropertyAssignment(n) || ts.isCallExpression(n))?.name?.getText() === "class";
        if (!ALLOWED.includes(text) && !attribute) assert.ok(!(shown ? /\p{L}{2,}/u : /\p{L}{2,} \p{L}{2,}/u).test(text), `${name}: ${text}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  const html = read("page.html").replace(/<(head|noscript)>[\s\S]*?<\/\1>/g, "").replace(/<script[\s\S]*?<\/script>|<!doctype html>/g, "");
  assert.doesNotMatch(html.replace(/<[^>]*>/g, ""), /\p{L}/u);
  const used = [...html.matchAll(/data-t="(\w+)"/g)].map(([, key]) => key);
  assert.ok(used.length > 20);
});

// ALLOWED has texts that need no translation: a command, addresses, a key of the browser's store, values of a
// verdict.
const ALLOWED = ["shuffled verify --key KEY FILE", "#main/1234", "#casino.example/main/1234", "shuffled: whom I trust", "key not pinned", "cannot judge", "not checked"];
