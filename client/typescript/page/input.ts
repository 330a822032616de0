// What the reader gives: files, pasted text, keys and values.
import { $, input } from "./dom.ts";
import { besides, nameIn } from "./link.ts";
import { ofPicture, scan } from "./qr.ts";
import { show } from "./result.ts";
import { state, type Given } from "./state.ts";
import { fill, iso, num, t, tech } from "./words.ts";

export const MOST_BYTES = 32 * 2 ** 20 + 1; // one more than the verifier takes, so that it refuses a longer file

// isKey recognizes a verifier key, which is one word. isPolicy recognizes a policy by a line that
// begins with one of its words.
export const isKey = (text: string) => /^\S+\+[0-9a-fA-F]{8}\+\S+$/.test(text);
const isPolicy = (text: string) => /^[ \t]*(?:log|witness|group|quorum)[ \t]/m.test(text);

function trusted(): { policy?: string; vkey?: string } {
  const text = input("trust").value.trim();
  if (text === "") return {};
  return isPolicy(text) ? { policy: text } : { vkey: text };
}

// second gives the policy for a co-dealer, nothing if the field is empty.
function second(): { coDealer?: string } {
  const coDealer = input("co-dealer").value.trim();
  return coDealer === "" ? {} : { coDealer };
}

const believed = () => input("auditors").value.split(/\s+/).filter((word) => word !== "");

// pasted gives the text of the field. Clipboards add and drop white space around a text, so it is trimmed,
// and a receipt gets its last newline back.
function pasted(): string {
  const text = input("text").value.trim();
  return text.startsWith("c2sp.org/") ? `${text}\n` : text;
}

// given gives what the reader trusts, for a hand of a table that is followed.
export const given = () => ({ ...trusted(), ...second(), auditors: believed() });

export async function check(): Promise<void> {
  const given = state.chosen ? state.chosen.bytes : pasted();
  const chosen = state.chosen, name = () => chosen ? [called(chosen), t.bytes(num(chosen.size))].join(t.comma) : t.pasted;
  if (given.length === 0 && !state.chosen) {
    (state.again ?? (() => say(t.chooseFirst)))();
    return;
  }
  const slots = shuffled.readSlots(input("slot").value);
  $("slot").setAttribute("aria-invalid", String(slots === null));
  if (slots === null) {
    $("result").hidden = true;
    say(t.noSlot);
    ($("more") as HTMLDetailsElement).open = true;
    $("slot").focus();
    return;
  }
  const run = ++state.runs; // what is followed ends
  state.again = null;
  say(t.checking);
  try {
    const judged = await shuffled.judge(given, { ...trusted(), ...second(), slots, auditors: believed() });
    if (run !== state.runs) return;
    say("");
    show(judged, name, await digestOf(given), chosen?.link, () => chosen?.link && besides(chosen.link, chosen.bytes));
  } catch (e) {
    if (run !== state.runs) return;
    $("result").hidden = true;
    say(...fill(t.couldNotRun, { why: tech((e as Error).message) }));
  }
}

// digestOf gives the SHA-256 hash of a file, in hexadecimal.
async function digestOf(given: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", typeof given === "string" ? new TextEncoder().encode(given) : given);
  return Array.from(new Uint8Array(hash), (b) => b.toString(16).padStart(2, "0")).join("");
}

export function say(...parts: (string | Node)[]): void { $("status").replaceChildren(...parts); }

// called gives the name of a file, or of the shuffle that a link leads to.
const called = (given: Given): string => given.link ? nameIn(given.link) : iso(given.name);

// trust puts a key or policy into its field. It gives false for anything else.
function trust(text: string): boolean {
  if (text.startsWith("{") || text.startsWith("c2sp.org/") || !isKey(text) && !isPolicy(text)) return false;
  input("trust").value = text;
  state.keyOfLink = false;
  return true;
}

// scanned reads a key with the camera.
export async function scanned(): Promise<void> {
  say("");
  const button = $<HTMLButtonElement>("scan");
  button.disabled = true; // no second scan at the same time
  try {
    const text = await scan();
    if (text !== null) say(trust(text.trim()) ? t.scanned : t.scannedNone);
  } catch (e) {
    say(...fill(t.noCamera, { why: tech((e as Error).message) }));
  } finally {
    button.disabled = false;
  }
}

// The browser keeps what the reader wants remembered, for the server that the page came from. A copy from
// disk remembers nothing, because any other file that is opened from disk could put its own key there. A key
// that comes in a file does not replace the remembered one.
const KEPT = "shuffled: whom I trust";
export function remember(): void {
  try {
    const text = input("trust").value.trim();
    if (input("remember").checked && text !== "") localStorage.setItem(KEPT, text);
    else localStorage.removeItem(KEPT);
  } catch { /* the browser keeps nothing */ }
}
export function remembered(): void {
  let text: string | null = null;
  try { text = localStorage.getItem(KEPT); } catch { /* the browser keeps nothing */ }
  if (text === null) return;
  input("trust").value = text;
  input("remember").checked = true;
}

// take reads files. It puts a key or policy into its field, keeps the proof of a ticket, and has any other file judged.
export async function take(files: File[]): Promise<void> {
  let evidence = false;
  for (const file of files) {
    if (/^image\/(?!svg)/.test(file.type)) {
      const text = await ofPicture(file);
      if (text === null || !trust(text.trim())) { // a picture is never evidence
        say(t.noKey(iso(file.name)));
        return;
      }
      continue;
    }
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = new Uint8Array(await file.slice(0, MOST_BYTES).arrayBuffer());
    } catch {
      say(t.unreadable(iso(file.name)));
      return;
    }
    const text = bytes.length <= 131072 ? new TextDecoder().decode(bytes).trim() : "";
    if (trust(text)) continue;
    if (text.startsWith("shuffled/v") ) {
      state.ticket = { name: file.name, bytes, size: file.size };
    } else {
      state.chosen = { name: file.name, bytes, size: file.size };
      $("link").hidden = true;
      evidence = true;
      input("text").value = "";
    }
  }
  named();
  if (evidence || state.chosen) await check();
  else say(state.ticket ? t.ticketFirst : t.keyFirst);
}

// named shows which file is checked.
export function named(): void {
  $("name").textContent = state.chosen && !state.chosen.link ? t.checked(iso(state.chosen.name), t.bytes(num(state.chosen.size))) : "";
}
