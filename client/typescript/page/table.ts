// A table that is followed: each of its hands is judged when it closes, newest first. The list of hands comes from the
// entries of the log (C2SP tlog-tiles), which a mirror can serve, too. Each hand is judged by its own file.
import { el } from "./dom.ts";
import { ended } from "./conclusions.ts";
import { Refused, baseOf, download, showLink } from "./link.ts";
import { given } from "./input.ts";
import { state, type TableLink } from "./state.ts";
import { iso, of, t, when } from "./words.ts";
import type { Verdict } from "../src/verify/types.ts";

// What is read at most: entries before the newest at the start, entries at one look, hands at the start, hands in the
// list. EVERY is how often the log is looked at, in milliseconds.
const BACK = 2048, WIDE = 256, FIRST = 10, MOST = 50, EVERY = 5000;

interface Hand { id: number; verdict: Verdict }

// tile gives the path of a tile of entries: its number in groups of three digits, all but the last behind an x.
function tile(n: number, width: number): string {
  const digits = String(n).padStart(Math.ceil(String(n).length / 3) * 3, "0").match(/.../g)!;
  return [...digits.slice(0, -1).map((group) => `x${group}`), digits.at(-1)].join("/") + (width < WIDE ? `.p/${width}` : "");
}

// apart gives the entries of a tile, each behind its length in two bytes.
function apart(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const out = [], view = new DataView(bytes.buffer);
  for (let at = 0, n = 0; at + 2 <= bytes.length; at += 2 + n) out.push(bytes.slice(at + 2, at + 2 + (n = view.getUint16(at))));
  return out;
}

// watch follows a table until another link is opened or a hand does not hold. What the server refuses or the network
// loses is said, and asked for again at the next look, so that no hand is left out.
export async function watch(link: TableLink): Promise<void> {
  const run = ++state.runs, open = new Set<number>(), waiting: number[] = [], hands: Hand[] = [], log = `log/${link.ledger}/`, base = baseOf(link);
  let read = -1, looked = false, why: (() => string) | null = null, trouble = null as (() => string) | null;
  state.again = () => void watch(link);
  const title = () => t.ofTable(iso(link.table), iso(link.ledger), iso(link.host ?? location.host));
  const show = () => showLink(() => [title(), [trouble ? `${trouble()} ` : "", why ? why() : hands.length === 0 ? t.noHandYet : t.followed(hands.length)],
    el("ol", { role: "list", class: "followed" }, ...hands.map((hand) => item(link, hand)))]);
  const text = async (path: string) => new TextDecoder().decode(await download(new URL(log + path, base)));

  // look reads the entries that came. The hands of the table that they close wait to be judged, in their order: at the
  // start the newest, and then each.
  const look = async (): Promise<void> => {
    const size = Number((await text("checkpoint")).split("\n")[1]);
    if (!Number.isSafeInteger(size)) throw new Refused(() => t.brokeOff);
    if (read < 0) read = Math.max(0, size - BACK);
    for (let n = Math.floor(read / WIDE); n * WIDE < size && read < size && run === state.runs; n++) {
      const width = Math.min(WIDE, size - n * WIDE), from = Math.max(0, read - n * WIDE);
      const entries = apart(await download(new URL(`${log}tile/entries/${tile(n, width)}`, base)));
      // Before anything is kept of a tile, all of it is parsed: a tile that breaks off is read again as a whole.
      const came = Array.from({ length: width - from }, (_, i) => shuffled.parts.parseEntry(entries[from + i]!));
      for (const [i, e] of came.entries()) {
        if (e.commit?.context.table === link.table) open.add(n * WIDE + from + i);
        if (e.close && open.delete(e.close.shuffle)) waiting.push(e.close.shuffle);
      }
      read = n * WIDE + width;
    }
    if (!looked) waiting.splice(0, Math.max(0, waiting.length - FIRST));
    looked = true;
  };

  for (show(); run === state.runs && why === null; await new Promise((resolve) => setTimeout(resolve, EVERY))) {
    if (document.hidden) continue;
    const before: string | undefined = trouble?.();
    try {
      await look();
      for (; waiting.length > 0 && why === null; waiting.shift()) {
        const id = waiting[0]!;
        const { verdict } = await shuffled.judge(await download(new URL(`v1/${link.ledger}/shuffles/${id}/transcript`, base)), given());
        if (run !== state.runs) return;
        trouble = null;
        hands.unshift({ id, verdict });
        hands.length = Math.min(hands.length, MOST);
        if (verdict.verdict === "failed" || verdict.id !== id || verdict.table !== link.table) why = () => t.stopsAt(String(id));
        show();
      }
      trouble = null;
    } catch (e) {
      trouble = e instanceof Refused ? e.why : () => t.brokeOff;
    }
    if (run === state.runs && trouble?.() !== before) show();
  }
}

// item is a line of the list, with a link to the hand.
function item({ table, ...link }: TableLink, { id, verdict: v }: Hand): HTMLElement {
  const bad = ended(v), said = bad ? of(t.endTitles, bad.code)! : t.verdicts[v.verdict];
  return el("li", { class: bad ? "consistent" : v.verdict.replace(" ", "-") },
    el("a", { href: `#${link.host === undefined ? "" : `${link.host}/`}${link.ledger}/${id}` }, v.table === table && v.serial !== undefined ? t.serial(iso(table), v.serial) : t.shuffle(id)),
    `: ${[said, v.outcome && of(t.outcomes, v.outcome), v.closed_at && when(v.closed_at)].filter(Boolean).join(t.comma)}`);
}
