// verify.mjs judges a transcript or receipt with the verifier of verify.html:
//
//	node web/verify.mjs [--key VKEY-or-file | --policy FILE] [--my-slot-file FILE]… [--auditor VKEY-or-file]… [--co-dealer FILE] [--history FILE] [--deck NAME] [--json] FILE
//
// --my-slot-file names a file with the value of a slot. The verdict is then for the slot's holder.
// --auditor names the verifier key of an auditor, whose statements are believed.
// --co-dealer names a policy for the ledger of a co-dealer. Without it no verdict says blind.
// --deck names the published deck that must have been shuffled as a whole.
// --history names the text of the game's history, with which the requests to the co-dealer are compared.
//
// It exits with 0 for proved or consistent, 1 for failed, 2 for a wrong command
// line, and 3 if it cannot judge or could not run.
import { readFileSync, realpathSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import vm from "node:vm";

const PAGE = fileURLToPath(new URL("verify.html", import.meta.url));
const USAGE = "usage: node verify.mjs [--key VKEY-or-file | --policy FILE] [--my-slot-file FILE]... [--auditor VKEY-or-file]... [--co-dealer FILE] [--history FILE] [--deck NAME] [--json] FILE\n";
const MOST_BYTES = 32 * 2 ** 20; // docs/SPEC.md section 8

// load runs only the script block of the page that is the verifier.
export function load() {
  const block = /<script id="verifier">([\s\S]*?)<\/script>/.exec(readFileSync(PAGE, "utf8"));
  if (block === null) throw new Error("verify.html has no script block called verifier");
  return vm.runInThisContext(`(() => {${block[1]}\nreturn shuffled; })()`, { filename: PAGE });
}

class Usage extends Error {}

function parseArgs(args) {
  const options = { slots: [], auditors: [] };
  for (let i = 0; i < args.length; i++) {
    const [flag, inline] = /^(--[a-z-]+)=([\s\S]*)$/.exec(args[i])?.slice(1) ?? [args[i]];
    if (flag === "--key" || flag === "--policy" || flag === "--co-dealer" || flag === "--history" || flag === "--deck") {
      const value = inline ?? args[++i];
      if (!value || options[flag] !== undefined) throw new Usage(`${flag} is given once, with a value`);
      options[flag] = value;
    } else if (flag === "--my-slot-file") {
      const value = inline ?? args[++i];
      if (!value) throw new Usage(`${flag} takes a file`);
      options.slots.push(value);
    } else if (flag === "--auditor") {
      const value = inline ?? args[++i];
      if (!value) throw new Usage(`${flag} takes a verifier key, or a file with one`);
      options.auditors.push(value);
    } else if (args[i] === "--json" || args[i] === "--help") {
      options[args[i]] = true;
    } else if (args[i].startsWith("-") || options.file !== undefined) {
      throw new Usage(`what is ${args[i]}?`);
    } else {
      options.file = args[i];
    }
  }
  if (options["--help"]) return options;
  if (options["--key"] && options["--policy"]) throw new Usage("a key or a policy, not both");
  if (options.file === undefined) throw new Usage("which file?");
  return options;
}

// A key may be given as its text, or as a file that has it.
const readKey = (key) => /^[^+]+\+[0-9a-fA-F]{8}\+[A-Za-z0-9+/=]+$/.test(key) ? key : readFileSync(key, "utf8").trim();

function trust(options) {
  const key = options["--key"], policy = options["--policy"], second = options["--co-dealer"], told = options["--history"];
  const coDealer = second && new Uint8Array(readFileSync(second)), history = told && new Uint8Array(readFileSync(told));
  return { coDealer, history, deck: options["--deck"], policy: policy && new Uint8Array(readFileSync(policy)), vkey: key && readKey(key) };
}

// readSlots returns the values in the files. An error never shows a value, because it is secret.
function readSlots(files, { readSlots: read }) {
  return files.flatMap((file) => {
    const values = read(readFileSync(file, "utf8"));
    if (!values?.length) throw new Usage(`${file} holds no value of a slot`);
    return values;
  });
}

function readEvidence(file) {
  if (statSync(file).size > MOST_BYTES) return new Uint8Array(MOST_BYTES + 1); // fails as too long, unread
  return new Uint8Array(readFileSync(file));
}

// The text of a file must not control the terminal.
const safe = (text) => String(text).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/g, "\ufffd");

function print(v) {
  const wide = Math.max(...v.steps.map((s) => s.name.length));
  const out = v.steps.map((s) => `${s.name.padEnd(wide)}  ${s.result.padEnd(11)}  ${s.detail}`);
  const failed = v.steps.find((s) => s.result === "failed");
  if (failed) out.push("", `likely cause: ${failed.cause}`);
  if (v.cards?.length) {
    const shown = v.cards.map((c) => c.card ?? c.shows ?? c.value).join(" ");
    out.push("", `cards: ${shown}`);
  }
  if (v.level && v.takeovers) out.push("", ...v.takeovers.map((t) => `taken over at place ${t.place}, to ${t.extent}: by ${t.identity} from ${t.from}. The house says: ${t.reason}`));
  if (v.level && v.statements) out.push("", ...v.statements.map(({ name, trusted }) => trusted ? `${name}, an auditor whom you trust, states that the order comes out of the tape` : `${name} signed a statement, and is not trusted: it gives nothing`));
  if (v.level && v.kind === "transcript" && v.state === "closed" && v.steps.some((s) => s.name === "order" && s.result !== "ok") && !v.statements?.some((s) => s.trusted)) out.push("", "not shown by this file: that the deck held each card once");
  if (v.key_in_force) out.push("", "not shown by this file: that the key which signed it was still in force");
  if (v.level && v.passed_over) out.push("", ...v.passed_over.map((p) => `passed over, for it changes nothing that is checked: ${p.count} of code ${p.code} in the list ${p.list}, first in entry ${p.first}`));
  if (v.blind) out.push("", ...blind(v.blind));
  if (v.not_blind) out.push("", NOT_BLIND[v.not_blind]);
  const more = v.level ? `, at the level "${v.level}"${v.level === "mixed" ? ` for ${v.mixed[0].for === "everybody" ? "everybody" : "the holder of the slot alone"}` : ""}` : v.failed ? ` at ${v.failed}` : v.unknown ? `: ${v.unknown}` : "";
  if (v.dealt_on === "not_shown") out.push("", "not shown by this file: that the co-dealer opened no more places than were dealt; the house can have looked at more and ended the hand");
  if (v.dealt_on === "opened_only") out.push("", `OPENED AND NOT DEALT ON: the co-dealer's ledger says that it opened ${v.not_dealt_on} more of the places than were dealt, or named by the close`);
  out.push("", `${v.verdict.toUpperCase()}${more}`);
  process.stdout.write(`${out.map(safe).join("\n")}\n`);
}

// blind says in words what a blind verdict says (docs/SPEC-BLIND.md section 8).
function blind({ co_dealer, requests, order_checked }) {
  return [`blind: ${co_dealer} gave the order of the places. Before it entered a request in its own ledger, nobody with only the house's machines, keys and staff could know more of what its places show than which cards were left; from then on the house could not change which of them go to which name.`,
    ...requests.map((r) => `places ${r.place} to ${r.place + r.places - 1}: asked for in one request (${r.runs.map(runOf).join("; ")}), at ${r.time} by its clock${historyOf(r)}; the file does not show that this was not early${r.unplayed ? `; ${unplayedOf(r)}` : ""}`),
    `That the house's deck held each card once is ${order_checked ? "checked" : "not checked here"}.`,
    "The house sees cards once they are dealt. That the two are different parties, no file shows."];
}

function historyOf({ state, history, line }) {
  if (!state) return ", without a hash of the game's history";
  if (!history) return ", with a hash of a history that nobody checked here";
  return history === "checked" ? `, behind line ${line} of the history that you gave` : ", with a hash of another history than you gave";
}

const unplayedOf = ({ cards }) => cards ? `the shuffle ended without a deal of these places, which would have shown ${cards.map((c) => c.card ?? c.shows ?? c.value).join(" ")}`
  : "the co-dealer entered this, no card of it was opened to the house, and the shuffle ended without a deal of these places";

const runOf = (run) => `${run.places} ${run.purpose}${run.recipient ? ` for ${run.recipient}` : ""}${run.public ? ", public" : ""}`;

// NOT_BLIND says why a shuffle is not blind, if a co-dealer is trusted.
const NOT_BLIND = {
  no_co_dealer: "not blind: the shuffle names no co-dealer",
  key_not_pinned: "not shown to be blind: nothing is trusted for the house",
  no_common_witness: "not shown to be blind: two quorums of the policy for the co-dealer need share no witness",
  not_dealt: "an order of a co-dealer is named, and nothing was dealt from it, as far as the file shows",
  not_one_history: "not shown to be blind: the file does not show that the checkpoints of the co-dealer are of one history",
};

const EXIT = { "proved": 0, "consistent": 0, "failed": 1, "cannot judge": 3 };

export async function main(args) {
  try {
    const options = parseArgs(args);
    if (options["--help"]) {
      process.stdout.write(USAGE);
      return 0;
    }
    const verifier = load();
    const v = await verifier.verify(readEvidence(options.file), { ...trust(options), slots: readSlots(options.slots, verifier), auditors: options.auditors.map(readKey) });
    if (options["--json"]) process.stdout.write(`${JSON.stringify(v)}\n`);
    else print(v);
    return EXIT[v.verdict];
  } catch (e) {
    process.stderr.write(`verify.mjs: ${safe(e.message)}\n${e instanceof Usage ? USAGE : ""}`);
    return e instanceof Usage ? 2 : 3;
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) process.exitCode = await main(process.argv.slice(2));
