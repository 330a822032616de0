// page.mjs writes web/verify.html from page/ and src/verify/: npm run page.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { writeWords } from "./words.mjs";

const here = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const OUT = here("../../web/verify.html");

// The page keeps its comments, because people read it. esbuild keeps only comments that begin with
// an exclamation mark, so comments of whole lines get one before esbuild, and lose it after.
const comments = {
  name: "comments",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace(/^( *)\/\/(?=[ \n])/gm, "$1//!"),
      loader: "ts",
    }));
  },
};

const marked = /^( *)\/\/!/gm;
// A blank line stands before each comment at the top level of a module.
const begins = /(?<=\n)(?<!\n *\/\/.*\n)(?=  \/\/ )/g;

// script gives a script block: the module entry with all that it imports, each once.
async function script(entry, more) {
  const {
    outputFiles: [file],
  } = await build({
    absWorkingDir: here(""),
    entryPoints: [here(entry)],
    bundle: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "inline",
    plugins: [comments],
    ...more,
  });
  return `\n${file.text
    .replace(marked, "$1//")
    .replace(begins, "\n")
    .replace(/\n{3,}/g, "\n\n")}`;
}

// page gives the bytes of verify.html.
export async function page() {
  const blocks = {
    style: `\n${readFileSync(here("page/style.css"), "utf8")}`,
    verifier: await script("page/verifier.ts", { globalName: "shuffled" }),
    page: await script("page/main.ts"),
  };
  const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const values = { ...blocks, scripts: `${hash(blocks.verifier)} ${hash(blocks.page)}`, styles: hash(blocks.style) };
  return readFileSync(here("page/page.html"), "utf8").replace(/\{\{(\w+)\}\}/g, (_, name) => values[name]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeWords();
  writeFileSync(OUT, await page());
}
