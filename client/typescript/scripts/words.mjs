// words.mjs prints internal/cli/audit/words.txt, which says what a verdict concludes, into the codes of the verifier,
// the English of the page and the console. npm run page runs it.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const HEAD = "// Made by npm run page from internal/cli/audit/words.txt. DO NOT EDIT.\n";

// words gives the lines of words.txt by kind: code and sentence.
export function words() {
  const all = {};
  for (const line of readFileSync(here("../../internal/cli/audit/words.txt"), "utf8").split("\n")) {
    const [, kind, code, text] = /^([a-z]+) (\w+) (.+)$/.exec(line) ?? [];
    if (kind) (all[kind] ??= []).push([code, text.replaceAll("'", "’")]);
  }
  return all;
}

const table = (name, lines, value) => `export const ${name} = {\n${lines.map((line) => `  ${line[0]}: ${value(line)},\n`).join("")}}`;
const text = ([, sentence]) => JSON.stringify(sentence);

// files gives the text of each file that is made.
export function files() {
  const { ended, says, not, reason, outcome } = words(), all = Object.entries({ ended, says, not }).flatMap(([kind, lines]) => lines.map((line) => [kind, ...line]));
  const names = (sentence) => [...sentence.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const consoleFile = "../../web/console.html", begin = "// The words of codes, made by npm run page.\n", [before, rest] = readFileSync(here(consoleFile), "utf8").split(begin);
  return {
    "src/verify/conclusions.gen.ts": `${HEAD}// CONCLUSIONS has the kind of each conclusion, and the values that its sentence names.\nexport const CONCLUSIONS = {\n${all
      .map(([kind, code, sentence]) => `  ${code}: { kind: "${kind}", values: ${JSON.stringify(names(sentence))} },\n`).join("")}} as const;\n`,
    "page/words/en.gen.ts": `${HEAD}${table("conclusions", [...ended, ...says, ...not], text)};\n${table("reasons", reason, text)};\n${table("outcomes", outcome, text)};\n`,
    [consoleFile]: `${before}${begin}const REASONS = ${JSON.stringify(Object.fromEntries(reason))};\nconst OUTCOMES = ${JSON.stringify(Object.fromEntries(outcome))};\n${rest.split("\n").slice(2).join("\n")}`,
  };
}

export function writeWords() {
  for (const [name, made] of Object.entries(files())) writeFileSync(here(name), made);
}
