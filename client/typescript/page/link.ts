// Links to a shuffle, of the server that the page came from or of another one.
import { $, el, input } from "./dom.ts";
import { MOST_BYTES, check, isKey, say } from "./input.ts";
import { state, type Link, type TableLink } from "./state.ts";
import { fill, iso, t } from "./words.ts";

// #main/1234 names a shuffle of the server that the page came from. #casino.example/main/1234 names one of
// another server, which a copy of the page from elsewhere can ask. The page asks the network for nothing
// else. #main/1234&key=…&slot=… also brings a key and a player's secret value. The maker of the link chose
// them, so they are used only if the reader says so. They are sent to nobody.

const LINK = /^#(?:([A-Za-z0-9.-]+(?::[0-9]{1,5})?)\/)?([A-Za-z0-9][A-Za-z0-9._-]{0,63})\/([1-9][0-9]{0,15})((?:&[^&]*)*)$/;
export const served = location.protocol === "https:" || location.protocol === "http:";

// #main/table-1 names a table, whose hands are followed. Digits alone are the number of a shuffle.
const TABLE = /^#(?:([A-Za-z0-9.-]+(?::[0-9]{1,5})?)\/)?([A-Za-z0-9][A-Za-z0-9._-]{0,63})\/(?![0-9]+$)([A-Za-z0-9][A-Za-z0-9._-]{0,63})$/;

export function readTable(): TableLink | null {
  const found = TABLE.exec(location.hash);
  return found && { host: found[1], ledger: found[2]!, table: found[3]! };
}

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
  // The secret value is removed from the address bar and from the history.
  if (link.slot !== undefined) history.replaceState(null, "", `#${nameOf(link)}${link.key === undefined ? "" : `&key=${encodeURIComponent(link.key)}`}`);
  return link;
}

// nameOf gives the link without key and slot.
export const nameOf = ({ host, ledger, id }: Link): string => `${host === undefined ? "" : `${host}/`}${ledger}/${id}`;

// baseOf gives the address that the link leads to. Another host is asked over HTTPS, unless it is this machine.
export const baseOf = ({ host }: { host?: string }): URL | string => host === undefined ? document.baseURI
  : `${/^(?:localhost|127\.0\.0\.1)(?::|$)/.test(host) ? "http" : "https"}://${host}/`;

// refusal says what the status of an answer without evidence means.
const refusal = (status: number): string => status === 401 || status === 403 ? t.closed : status === 404 ? t.noShuffle : status === 429 ? t.tooMany : status === 503 ? t.busy : t.status(status);

// nameIn says which shuffle a link leads to, and on which server.
export const nameIn = ({ id, ledger, host }: Link): string => t.ofLink(String(id), iso(ledger), iso(host ?? location.host));

// followTable is set by main.ts, because a table that is followed uses what links use.
let followTable: (table: TableLink) => Promise<void> = async () => {};
export const onTable = (watch: typeof followTable): void => { followTable = watch; };

export async function follow(link: Link | null): Promise<void> {
  const run = ++state.runs;
  state.again = null;
  $("link").hidden = location.hash === "";
  if (location.hash === "") return;
  state.chosen = null;
  $("result").hidden = true;
  $("name").textContent = "";
  const table = link ? null : readTable();
  if (table && (served || table.host !== undefined)) return followTable(table);
  if (!link || !served && link.host === undefined) {
    showLink(() => [t.nowhere, fill(served ? t.nowhereServed : t.nowhereDisk, { link: el("code", { dir: "ltr" }, served ? "#main/1234" : "#casino.example/main/1234") }), ...slotOffer(link?.slot)]);
    return;
  }
  showLink(() => [nameIn(link), t.fetching]);
  say("");
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = await download(new URL(`v1/${link.ledger}/shuffles/${link.id}/transcript`, baseOf(link)));
  } catch (e) {
    if (run === state.runs) showLink(() => [nameIn(link), (e as Refused).why(), again(link)]);
    return;
  }
  if (run !== state.runs) return;
  const sent = idOf(bytes);
  if (sent !== undefined && sent !== link.id) {
    showLink(() => [nameIn(link), t.another(iso(String(sent))), again(link)]);
    return;
  }
  showLink(() => [nameIn(link), t.fetched]);
  state.chosen = { name: "", bytes, size: bytes.length, link };
  await check();
}

// Refused has the reason why there is no evidence, as a function, because the reader can change the language.
export class Refused extends Error { constructor(readonly why: () => string) { super(); } }

// download gives at most MOST_BYTES of the answer.
export async function download(url: URL | string): Promise<Uint8Array<ArrayBuffer>> {
  let answer: Response;
  try {
    answer = await fetch(url, { cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer" });
  } catch {
    // The content security policy under which a house serves the page blocks other servers. The page cannot
    // tell that from a server that does not answer.
    throw new Refused(() => served && new URL(url).origin !== location.origin ? t.silentElsewhere : t.silent);
  }
  if (!answer.ok) throw new Refused(() => refusal(answer.status));
  const pieces: Uint8Array<ArrayBuffer>[] = [], reader = answer.body!.getReader();
  let size = 0;
  for (let r; size < MOST_BYTES && !(r = await reader.read().catch(() => { throw new Refused(() => t.brokeOff); })).done; size += r.value.length) pieces.push(r.value);
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

export function showLink(says: () => [title: string, text: string | (string | Node)[], ...more: HTMLElement[]]): void {
  state.link = () => {
    const [title, text, ...more] = says();
    $("link").replaceChildren(el("h2", { id: "link-title" }, title), el("p", { role: "status" }, ...[text].flat()), ...more);
  };
  state.link();
  $("link").hidden = false;
}

// besides gives what stands below the verdict on a linked shuffle.
export function besides(link: Link, bytes: Uint8Array<ArrayBuffer>): HTMLElement {
  return el("div", { class: "of-link" },
    el("p", {}, new URL(baseOf(link)).origin === location.origin ? t.sameServer(iso(location.host)) : t.otherServer(iso(link.host!))),
    ...keyOffer(link.key), ...slotOffer(link.slot), keep(bytes, `${link.ledger}-${link.id}.json`));
}

function button(text: string, kind: string, action: () => void): HTMLElement {
  const b = el("button", { type: "button", class: kind }, text);
  b.addEventListener("click", action);
  return b;
}

const again = (link: Link) => button(t.again, "plain", () => follow(link));

// keep gives a button that saves the bytes that were judged.
function keep(bytes: Uint8Array<ArrayBuffer>, name: string): HTMLElement {
  return button(t.save, "plain", () => {
    const url = URL.createObjectURL(new Blob([bytes], { type: "application/json" }));
    el("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  });
}

function keyOffer(key: string | undefined): HTMLElement[] {
  if (key === undefined || state.keyOfLink && input("trust").value === key) return [];
  if (!isKey(key)) return [el("p", {}, t.linkNoKey)];
  return [el("p", {}, ...fill(t.linkKey, { key: el("code", { dir: "ltr" }, key) })),
    button(t.useKey, "plain", () => {
      input("trust").value = key;
      state.keyOfLink = true;
      check();
    })];
}

function slotOffer(slot: string | undefined): HTMLElement[] {
  if (slot === undefined || state.slotOfLink && input("slot").value === slot) return [];
  if (!shuffled.readSlots(slot)?.length) return [el("p", {}, t.linkNoSlot)];
  return [el("p", {}, ...fill(t.linkSlot, { slot: el("code", { dir: "ltr" }, slot) })),
    button(t.useSlot, "plain", () => {
      input("slot").value = slot;
      state.slotOfLink = true;
      check();
    })];
}
