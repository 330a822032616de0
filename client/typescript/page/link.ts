// Links to a shuffle of the server that the page came from.
import { $, el, input } from "./dom.ts";
import { MOST_BYTES, check, isKey, say } from "./input.ts";
import { state, type Link } from "./state.ts";

// #main/1234 names a shuffle of the server that the page came from, and #casino.example/main/1234
// one of another server, which a copy of the page from elsewhere can ask. It is all
// that the page ever asks the network for. #main/1234&key=…&slot=… brings a key
// and a player's secret value, too, which anyone who made the link has chosen: they
// are used only when told to. What follows # is sent to nobody.

const LINK = /^#(?:([A-Za-z0-9.-]+(?::[0-9]{1,5})?)\/)?([A-Za-z0-9][A-Za-z0-9._-]{0,63})\/([1-9][0-9]{0,15})((?:&[^&]*)*)$/;
export const served = location.protocol === "https:" || location.protocol === "http:";

export function readLink(): Link | null {
  const found = LINK.exec(location.hash);
  if (found === null) return null;
  const link: Link = { host: found[1], ledger: found[2]!, id: Number(found[3]) };
  try {
    for (const part of found[4]!.split("&").slice(1)) {
      const [, word, value = ""] = /^(key|slot)=(.*)$/.exec(part) ?? [], name = word as "key" | "slot" | undefined;
      if (name === undefined || link[name] !== undefined) return null;
      link[name] = decodeURIComponent(value);
    }
  } catch {
    return null;
  }
  // A secret value is to stand neither in the address bar nor in the history.
  if (link.slot !== undefined) history.replaceState(null, "", `#${nameOf(link)}${link.key === undefined ? "" : `&key=${encodeURIComponent(link.key)}`}`);
  return link;
}

// nameOf is the link without what it brings.
export const nameOf = ({ host, ledger, id }: Link): string => `${host === undefined ? "" : `${host}/`}${ledger}/${id}`;

// baseOf is where the link leads: to another host encrypted, except to this machine.
const baseOf = ({ host }: Link): URL | string => host === undefined ? document.baseURI
  : `${/^(?:localhost|127\.0\.0\.1)(?::|$)/.test(host) ? "http" : "https"}://${host}/`;

const REFUSALS: Record<number, string> = {
  401: "This ledger is not open to everybody. Ask the house for the file, and give it below.",
  403: "This ledger is not open to everybody. Ask the house for the file, and give it below.",
  404: "This server has no such shuffle.",
  429: "This server has too many questions just now. Try again in a moment.",
  503: "This server cannot answer just now. Try again in a moment.",
};

export async function follow(link: Link | null): Promise<void> {
  const run = ++state.runs;
  $("link").hidden = location.hash === "";
  if (location.hash === "") return;
  state.chosen = null;
  $("result").hidden = true;
  $("name").textContent = "";
  if (!link || !served && link.host === undefined) {
    showLink("A link that leads nowhere", served ? "After # this page reads a ledger and the number of a shuffle, as in #main/1234."
      : "This is a copy from disk: a link to a shuffle has to name the house’s server, too, as in #casino.example/main/1234. Or give it the file below.", ...slotOffer(link?.slot));
    return;
  }
  const title = `Shuffle ${link.id} of ${link.ledger}, from ${link.host ?? location.host}`;
  showLink(title, "Fetching its transcript …");
  say("");
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = await download(new URL(`v1/${link.ledger}/shuffles/${link.id}/transcript`, baseOf(link)));
  } catch (e) {
    if (run === state.runs) showLink(title, (e as Error).message, again(link));
    return;
  }
  if (run !== state.runs) return;
  const sent = idOf(bytes);
  if (sent !== undefined && sent !== link.id) {
    showLink(title, `The server answered with another shuffle, number ${sent}. That is no evidence for this one.`, again(link));
    return;
  }
  showLink(title, "The transcript is here; the verdict stands below. It shows what everybody may see. Your own cards, while the game is on, are in the file that your table gives you: choose or drop that one.");
  state.chosen = { name: title, bytes, link };
  await check();
}

// download reads no more than the verifier takes.
async function download(url: URL | string): Promise<Uint8Array<ArrayBuffer>> {
  let answer: Response;
  try {
    answer = await fetch(url, { cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer" });
  } catch {
    throw new Error("The server does not answer.");
  }
  if (!answer.ok) throw new Error(REFUSALS[answer.status] ?? `The server answers ${answer.status}.`);
  const pieces: Uint8Array<ArrayBuffer>[] = [], reader = answer.body!.getReader();
  let size = 0;
  for (let r; size < MOST_BYTES && !(r = await reader.read().catch(() => { throw new Error("The server’s answer broke off."); })).done; size += r.value.length) pieces.push(r.value);
  reader.cancel().catch(() => {});
  return new Uint8Array(await new Blob(pieces).slice(0, MOST_BYTES).arrayBuffer());
}

function idOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)).id;
  } catch {
    return undefined;
  }
}

function showLink(title: string, text: string, ...more: HTMLElement[]): void {
  $("link").replaceChildren(el("h2", { id: "link-title" }, title), el("p", { role: "status" }, text), ...more);
  $("link").hidden = false;
}

// besides is what is said next to the verdict on a linked shuffle.
export function besides(link: Link, bytes: Uint8Array<ArrayBuffer>): HTMLElement {
  return el("div", { class: "of-link" },
    el("p", {}, new URL(baseOf(link)).origin === location.origin
      ? `The file and this page came from ${location.host}: a server that lies can send both. The verdict is worth as much as the key that you give, and the place that you have it from.`
      : `The file came from ${link.host}, and this page did not. The verdict is worth as much as the key that you give, and the place that you have it from.`),
    ...keyOffer(link.key), ...slotOffer(link.slot), keep(bytes, `${link.ledger}-${link.id}.json`));
}

function button(text: string, kind: string, action: () => void): HTMLElement {
  const b = el("button", { type: "button", class: kind }, text);
  b.addEventListener("click", action);
  return b;
}

const again = (link: Link) => button("Try again", "plain", () => follow(link));

// keep saves the very bytes that were judged.
function keep(bytes: Uint8Array<ArrayBuffer>, name: string): HTMLElement {
  return button("Save the file", "plain", () => {
    const url = URL.createObjectURL(new Blob([bytes], { type: "application/json" }));
    el("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  });
}

function keyOffer(key: string | undefined): HTMLElement[] {
  if (key === undefined || state.keyOfLink && input("trust").value === key) return [];
  if (!isKey(key)) return [el("p", {}, "The link also brings something that is no verifier key. It is not used.")];
  return [el("p", {}, "The link also brings a key: ", el("code", {}, key), ". It is not used: anyone who made the link chose it, and a false ledger has a false key. Compare it with the one that the regulator or the licence names."),
    button("I have compared it: use this key", "plain", () => {
      input("trust").value = key;
      state.keyOfLink = true;
      check();
    })];
}

function slotOffer(slot: string | undefined): HTMLElement[] {
  if (slot === undefined || state.slotOfLink && input("slot").value === slot) return [];
  if (!shuffled.readSlots(slot)?.length) return [el("p", {}, "The link also brings something that is no secret value. It is not used.")];
  return [el("p", {}, "The link also brings a secret value: ", el("code", {}, slot), ". It is not used: it says something only to the player who chose it. Compare it with the one that you kept."),
    button("I chose this value: use it", "plain", () => {
      input("slot").value = slot;
      state.slotOfLink = true;
      check();
    })];
}
