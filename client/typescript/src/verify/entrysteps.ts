// The steps format and entries: what the file is, and whether its entries belong together.
import { equal } from "./bytes.ts";
import { CONTINUED, SIGNING } from "./codes.ts";
import { parseEntry } from "./entries.ts";
import { Fault } from "./errors.ts";
import { many } from "./step.ts";
import { readFile } from "./transcript.ts";

export function stepFormat(s) {
  s.file = readFile(s.input);
  if (s.file.kind === "receipt") return "a receipt, in its one form";
  return `a transcript with ${many(s.file.receipts.length, "receipt")} and ${many(s.file.cards.length, "opened card")}`;
}

export function stepEntries(s) {
  const { receipts } = s.file;
  if (s.file.kind === "receipt") {
    const { type } = receipts[0].entry = parseEntry(receipts[0].bytes), { index } = receipts[0];
    if ((type === "genesis") !== (index === 0)) throw new Fault(`entry ${index}: ${called(type)}`);
    if (type === "genesis" || type === "commit") s[type] = receipts[0];
    return `entry ${index}: ${called(type)}`;
  }
  const [genesis, commit] = receipts; // 1.4: each is parsed when those in front of it hold
  genesis.entry = parseEntry(genesis.bytes);
  if (genesis.entry.type !== "genesis" || genesis.index !== 0) throw new Fault("the first receipt is not of the genesis, entry 0");
  commit.entry = parseEntry(commit.bytes);
  if (commit.entry.type !== "commit" || commit.index !== s.file.id)
    throw new Fault(`the second receipt is not of the commit, entry ${s.file.id}`);
  const found = { mix: null, deals: [], reveals: [], takeovers: [], close: null, disclosure: null };
  for (let i = 2; i < receipts.length; i++) {
    const { index, bytes } = receipts[i], entry = receipts[i].entry = parseEntry(bytes), { type } = entry;
    const where = `entry ${index}, ${called(type)}`;
    if (index <= receipts[i - 1].index) throw new Fault(`${where}: its index does not ascend`);
    if (!["mix", "deal", "reveal", "takeover", "close", "disclosure"].includes(type)) throw new Fault(`${where}: it belongs to no shuffle`);
    if (entry[type].shuffle !== s.file.id) throw new Fault(`${where}: it names shuffle ${entry[type].shuffle}`);
    const continued = found.close?.entry.close.outcome === CONTINUED && !found.disclosure;
    if (type === "disclosure" ? !continued : found.close && !(continued && type === "reveal"))
      throw new Fault(`${where}: ${type === "disclosure" ? "no close as continued waits for it" : "it stands behind the close"}`);
    if (type === "mix" && found.mix) throw new Fault(`${where}: the second one`);
    if (type === "mix" && found.deals.length) throw new Fault(`${where}: after a deal`);
    if (type === "deal" && commit.entry.commit.context.plan.length && !found.mix)
      throw new Fault(`${where}: the commit has a plan, and its mix is missing`);
    if (type === "deal") found.deals.push(receipts[i]);
    else if (type === "reveal") found.reveals.push(receipts[i]);
    else if (type === "takeover") found.takeovers.push(receipts[i]);
    else found[type] = receipts[i];
  }
  const { witnessed } = s.file;
  if (witnessed && (witnessed.index !== commit.index || !equal(witnessed.bytes, commit.bytes))) throw new Fault("what the witnesses saw is another entry than the commit");
  let last = -1;
  for (const r of s.file.keys) {
    r.entry = parseEntry(r.bytes);
    if (r.entry.type !== "key" || r.entry.key.subject !== SIGNING) throw new Fault(`entry ${r.index}, among the keys: no signing key`);
    if (r.index <= last) throw new Fault(`entry ${r.index}, among the keys: its index does not ascend`);
    if (r.checkpoint.size !== r.index + 1 || r.checkpoint.size > s.file.checkpoint.size)
      throw new Fault(`entry ${r.index}, among the keys: not the last of its checkpoint, or above the file's`);
    last = r.index;
  }
  Object.assign(s, found, { genesis, commit, context: commit.entry.commit.context });
  const close = found.close?.entry.close;
  s.disclosed = found.disclosure?.entry.disclosure ?? (close?.outcome === CONTINUED ? null : close ?? null);
  return `genesis, commit${s.mix ? ", mix" : ""}, ${many(s.deals.length, "deal")}${s.reveals.length ? `, ${many(s.reveals.length, "reveal")}` : ""}${s.takeovers.length ? `, ${many(s.takeovers.length, "takeover")}` : ""}${s.close ? ", close" : ", no close yet"}${s.disclosure ? ", disclosure" : ""}`;
}

export const called = (type) => type === "opaque" ? "an entry of a type that is passed over" : type === "act" || type === "event" ? `an ${type}` : `a ${type}`;
