// A small house for the tests. It writes entries, a ledger, receipts and
// transcripts by docs/SPEC.md, with keys of its own. It can cheat.
import { load } from "./verify.mjs";

const { parts } = load();
const { join, str8, blob16, u32 } = parts;
const text = (s) => new TextEncoder().encode(s);
const u8 = (...n) => Uint8Array.of(...n);
const u16 = (n) => u8(n >> 8, n);
const u64 = (n) => join(u32(Math.floor(n / 2 ** 32)), u32(n % 2 ** 32));
const base64 = (bytes) => Buffer.from(bytes).toString("base64");
const ZEROS = new Uint8Array(32);

export const T = 1790000000000;

export async function newKey(name) {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  const typed = join(u8(1), new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
  const id = parts.sha256(text(`${name}\n`), typed).subarray(0, 4);
  return {
    name, typed, vkey: `${name}+${Buffer.from(id).toString("hex")}+${base64(typed)}`,
    line: async (body) => `\u2014 ${name} ${base64(join(id, new Uint8Array(await crypto.subtle.sign("Ed25519", pair.privateKey, text(body)))))}\n`,
  };
}

// newWitness makes a witness of C2SP tlog-cosignature. at(time) cosigns at a time in seconds.
export async function newWitness(name) {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  const typed = join(u8(4), new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
  const id = parts.sha256(text(`${name}\n`), typed).subarray(0, 4);
  return {
    vkey: `${name}+${Buffer.from(id).toString("hex")}+${base64(typed)}`,
    at: (time, says = time) => ({
      line: async (body) => {
        const stamp = Buffer.alloc(8);
        stamp.writeBigUInt64BE(time);
        const signature = await crypto.subtle.sign("Ed25519", pair.privateKey, text(`cosignature/v1\ntime ${says}\n${body}`));
        return `\u2014 ${name} ${base64(join(id, stamp, new Uint8Array(signature)))}\n`;
      },
    }),
  };
}

// Entries (5). Each function takes what differs from a plain entry. `by` is the
// identity that caused it, and `extensions` are pairs of a code and a value.
export const DEALER = "casino-1";
export const header = (type, { time = T, by = DEALER, credential = by === DEALER ? "token-1" : by }) => join(u8(1, type), u64(time), str8(by), str8(credential));
const extensions = (list = []) => join(u8(list.length), ...list.map(([code, value]) => join(u8(code), blob16(value))));

export const genesis = (key, o = {}) => join(header(1, { by: "operator", ...o }), u16(o.revision ?? 1), str8(o.origin ?? key.name), u8(o.production ?? 0), blob16(key.typed), blob16(text(o.policy ?? "")),
  u8(0, o.deals ?? 1, o.modes ?? 7, 1), u32(60), u32(o.cap ?? 86400), u8(1), u16(0),
  u8(o.administrators?.length ?? 0), ...(o.administrators ?? []).map((a) => join(str8(a.name), blob16(a.typed))), u8(o.twoPersons?.length ?? 0, ...o.twoPersons ?? []), u32(o.delay ?? 0), extensions(o.extensions));

export const start = (o = {}) => join(header(7, { by: "daemon", ...o }), u8(1), ZEROS, ZEROS, u8(0), str8("1.0.0"), str8("6.1.0"), u8(2));

export function context(o) {
  const recipe = o.ranges ? join(u8(2), u16(o.ranges.length), ...o.ranges.map(u32)) : join(u8(1), parts.deckHash(o.deck), u16(o.n ?? o.deck.length), u16(o.m));
  const parent = o.parent ? join(u8(1), u64(o.parent.id), u16(o.parent.positions.length), ...o.parent.positions.map(u16)) : u8(0);
  const plan = (o.plan ?? []).map((p) => p.source === 1 ? join(u8(1), p.hash) : p.source === 2 ? join(u8(2), ZEROS, u64(p.round)) : u8(3));
  return join(str8(o.origin), o.genesis ?? ZEROS, u8(o.production ?? 0), str8("table-1"), u8(1), recipe, parent, u8(plan.length), ...plan,
    o.lo ? join(u8(2), u16(o.lo), u16(o.hi)) : u8(0), u8(o.disclosure ?? 1), extensions(o.extensions));
}

export const commit = (o) => join(header(2, o), blob16(o.context), o.commitment, o.root, u64(o.serial ?? 1), u64(o.previous ?? 0),
  u64(o.closeBy ?? T + 60000), str8(""), ZEROS, ZEROS, u64(o.instance ?? 1), extensions(o.commitExtensions));

export const mix = (o) => join(header(3, o), u64(o.shuffle), u64(o.checkpoint ?? o.shuffle + 1), u8(o.values.length),
  ...o.values.map((v) => join(u8(v.source), v.source === 3 ? u16(v.cut) : v.value)));

export const deal = (o) => join(header(4, o), u64(o.shuffle), u16(o.first), u64(o.checkpoint ?? o.shuffle + 1), u8(o.final ?? 0), u16(1),
  u16(o.cards), u8(o.purpose ?? 1), str8(o.recipient ?? "seat-1"), u8(o.public ?? 1), u16(o.round ?? 0), extensions(o.extensions));

export const close = (o) => {
  const form = o.form ?? (o.outcome === 3 ? 0 : 1); // a close as continued discloses no tape
  return join(header(5, o), u64(o.shuffle), u16(o.entries ?? 1), u8(o.outcome ?? 1, o.reason ?? 0, form),
    form === 2 ? u64(o.key) : u8(), form === 0 ? u8() : blob16(o.tape), extensions(o.extensions));
};

export const disclosure = (o) => join(header(12, o), u64(o.shuffle), u16(o.entries ?? 2), u8(0), extensions(o.extensions));
export const reveal = (o) => join(header(11, o), u64(o.shuffle), u8(o.final ?? 0, o.exposed ?? 0), u16(o.places.length), ...o.places.map(u16), extensions(o.extensions));

export const takeover = (o) => join(header(o.type ?? 8, { by: "casino-2", ...o }), u64(o.shuffle), u8(o.extent ?? 2), str8(o.reason ?? "casino-1 does not answer"));

// levels returns all levels of a ledger's tree, so that proofs are cheap.
function levels(leaves) {
  const all = [leaves];
  for (let l = leaves; l.length > 1; all.push(l))
    l = Array.from({ length: Math.ceil(l.length / 2) }, (_, i) => 2 * i + 1 < l.length ? parts.nodeOf(l[2 * i], l[2 * i + 1]) : l[2 * i]);
  return all;
}

function proof(all, index) {
  const out = [];
  for (const l of all.slice(0, -1)) {
    if ((index ^ 1) < l.length) out.push(base64(l[index ^ 1]));
    index >>= 1;
  }
  return out;
}

// receipts signs a checkpoint over all entries, and returns receipts of the entries at the indexes.
export async function receipts(origin, keys, entries, indexes) {
  const all = levels(entries.map(parts.leafOf));
  const body = `${origin}\n${entries.length}\n${base64(all.at(-1)[0])}\n`;
  const checkpoint = `${body}\n${(await Promise.all(keys.map((k) => k.line(body)))).join("")}`;
  return indexes.map((i) => `c2sp.org/tlog-proof@v1\nextra ${base64(entries[i])}\nindex ${i}\n${proof(all, i).map((h) => `${h}\n`).join("")}\n${checkpoint}`);
}

// shuffleOf draws a tape, and returns all that a house knows of a shuffle.
export async function shuffleOf(contextBytes, random) {
  const c = parts.parseContext(contextBytes), ks = parts.ranges(c);
  const tape = Uint8Array.from({ length: parts.tapeLength(ks) }, random);
  const commitment = parts.commitment(contextBytes, tape);
  const { values } = parts.recompute(c, tape);
  const salts = await parts.salts(commitment, tape, values.length);
  const all = levels(values.map((v, p) => parts.leafHash(parts.leafTag(commitment, contextBytes), p, v, salts[p])));
  const open = (place, position, deck) => ({ place, position, value: values[position], card: deck?.[values[position]], salt: base64(salts[position]), proof: proof(all, position) });
  return { context: contextBytes, tape, commitment, root: all.at(-1)[0], open };
}

// apart splits a receipt in front of its checkpoint.
export const apart = (receipt) => { const at = receipt.indexOf("\n\n") + 2; return [receipt.slice(0, at), receipt.slice(at)]; };

export const transcript = (id, deck, list, cards) =>
  JSON.stringify({ format: "shuffled/v1/transcript", id, deck, checkpoint: apart(list[0])[1], receipts: list.map((r) => apart(r)[0]), cards });

// random returns a small generator (mulberry32), so that every run has the same mutants.
export function random(seed) {
  return () => {
    seed = seed + 0x6d2b79f5 | 0;
    let t = Math.imul(seed ^ seed >>> 15, 1 | seed);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return (t ^ t >>> 14) >>> 0;
  };
}

export const ORIGIN = "house.example/main";

// game plays one shuffle in a ledger of its own, and returns its transcript. The
// entries are genesis, instance, commit, mix if there is a plan, deals and close.
// A deal has two cards unless the recipe has its own deals, which may have
// takeovers among them. cheat changes members of the entries.
export async function game(key, recipe, cheat = {}) {
  const next = random(recipe.seed ?? 7);
  const byte = () => next() & 0xff;
  const secrets = Array.from({ length: recipe.slots ?? 0 }, () => Uint8Array.from({ length: 32 }, byte));
  const plan = secrets.map((r) => ({ source: 1, hash: parts.slotHash(ORIGIN, "table-1", r) }));
  if (recipe.beacon) plan.push({ source: 2, round: 9 });
  if (recipe.cut !== undefined) plan.push({ source: 3 });
  const values = [...secrets.map((value) => ({ source: 1, value })), ...recipe.beacon ? [{ source: 2, value: Uint8Array.from({ length: 48 }, byte) }] : [],
    ...recipe.cut !== undefined ? [{ source: 3, cut: recipe.cut }] : []];
  const zero = genesis(key, cheat.genesis);
  const s = await shuffleOf(context({ origin: ORIGIN, genesis: parts.sha256(zero), plan, ...recipe, ...cheat.context }), byte);
  const id = 2, takeOver = (...list) => entries.push(...list.map((o) => takeover({ shuffle: id, ...o })));
  const entries = [zero, start(), commit({ ...s, ...cheat.commit })];
  takeOver(...recipe.unmixed ?? []);
  if (plan.length > 0) entries.push(mix({ shuffle: id, values, ...cheat.mix }));
  const m = recipe.ranges?.length ?? recipe.m;
  const deals = cheat.undealt ? [] : recipe.deals ?? Array.from({ length: Math.ceil(m / 2) }, (_, i) => ({ cards: Math.min(2, m - 2 * i) }));
  let first = 0;
  for (const d of deals) {
    if (d.takeover) { takeOver(d.takeover); continue; }
    entries.push(deal({ shuffle: id, first, final: first + d.cards >= m ? 1 : 0, ...d, ...cheat.deal?.(first) }));
    first += d.cards;
  }
  if (!cheat.open) entries.push(close({ shuffle: id, entries: entries.length - 2, tape: s.tape, ...cheat.close }));
  takeOver(...cheat.behind ?? []);
  const seed = parts.mixSeed(entries[2], values);
  const at = plan.length === 0 || recipe.ranges ? (i) => i : ((p) => (i) => p[i])(await parts.mixedPlaces(seed, m, recipe.cut ?? 0));
  const cards = Array.from({ length: first }, (_, i) => s.open(i, at(i), recipe.deck));
  const list = await receipts(ORIGIN, [key], entries, entries.map((_, i) => i).filter((i) => i !== 1));
  return transcript(id, recipe.deck, list, cards);
}

export const deckOf = (n) => Array.from({ length: n }, (_, i) => `card ${i}`);
