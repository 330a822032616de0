// The steps format and entries: what the file is, and whether its entries belong together (10.1).
import { readHandovers, readOrder } from "./blindsteps.ts";
import { CONTINUED, SIGNING } from "./codes.ts";
import { parseEntry } from "./entries.ts";
import { Fault } from "./errors.ts";
import { mixed } from "./mix.ts";
import { many } from "./step.ts";
import type { Outcome } from "./step.ts";
import { readFile } from "./transcript.ts";
import type { Of, State, Whole } from "./types.ts";

export function stepFormat(s: State): Outcome {
  s.file = readFile(s.input);
  if (s.file.kind === "receipt") return "a receipt, in its one form";
  return `a transcript with ${many(s.file.receipts.length, "receipt")} and ${many(s.file.cards.length, "opened card")}`;
}

export function stepEntries(s: State): Outcome {
  const { receipts } = s.file;
  if (s.file.kind === "receipt") {
    const receipt = receipts[0]!, { index } = receipt, { type } = receipt.entry = parseEntry(receipt.bytes);
    if ((type === "genesis") !== (index === 0)) throw new Fault(`entry ${index}: ${called(type)}`);
    if (type === "genesis") s.genesis = receipt as Of<"genesis">;
    if (type === "commit") s.commit = receipt as Of<"commit">;
    if (receipt.entry.key?.subject === SIGNING) s.file.keys = [receipt as Of<"key">];
    return `entry ${index}: ${called(type)}`;
  }
  const [genesis, commit] = receipts as [Of<"genesis">, Of<"commit">]; // 1.4: an entry is parsed only if those before it hold
  genesis.entry = parseEntry(genesis.bytes) as typeof genesis.entry;
  if (genesis.entry.type !== "genesis" || genesis.index !== 0) throw new Fault("the first receipt is not of the genesis, entry 0");
  commit.entry = parseEntry(commit.bytes) as typeof commit.entry;
  if (commit.entry.type !== "commit" || commit.index !== s.file.id)
    throw new Fault(`the second receipt is not of the commit, entry ${s.file.id}`);
  const found: Pick<Whole, "mix" | "deals" | "reveals" | "takeovers" | "close" | "disclosure"> =
    { mix: null, deals: [], reveals: [], takeovers: [], close: null, disclosure: null };
  for (let i = 2; i < receipts.length; i++) {
    const receipt = receipts[i]!, { index, bytes } = receipt, entry = receipt.entry = parseEntry(bytes), { type } = entry;
    const where = `entry ${index}, ${called(type)}`;
    if (index <= receipts[i - 1]!.index) throw new Fault(`${where}: its index does not ascend`);
    const body = entry.mix ?? entry.deal ?? entry.reveal ?? entry.takeover ?? entry.close ?? entry.disclosure;
    if (body === undefined) throw new Fault(`${where}: it belongs to no shuffle`);
    if (body.shuffle !== s.file.id) throw new Fault(`${where}: it names shuffle ${body.shuffle}`);
    const continued = found.close?.entry.close.outcome === CONTINUED && !found.disclosure;
    if (type === "disclosure" ? !continued : found.close && !(continued && type === "reveal"))
      throw new Fault(`${where}: ${type === "disclosure" ? "no close as continued waits for it" : "it stands behind the close"}`);
    const counted = (entry.close ?? entry.disclosure)?.entries;
    if (counted !== undefined && counted !== i - 1) throw new Fault(`${where}: it counts ${counted} entries of the shuffle in front of it, and the file has ${i - 1}`);
    if (type === "mix" && found.mix) throw new Fault(`${where}: the second one`);
    if (type === "mix" && found.deals.length) throw new Fault(`${where}: after a deal`);
    if (type === "deal" && mixed(commit.entry.commit.context).length > 0 && !found.mix)
      throw new Fault(`${where}: the commit has a plan, and its mix is missing`);
    if (entry.deal) found.deals.push(receipt as Of<"deal">);
    else if (entry.reveal) found.reveals.push(receipt as Of<"reveal">);
    else if (entry.takeover) found.takeovers.push(receipt as Of<"takeover">);
    else Object.assign(found, { [type]: receipt });
  }
  readHandovers(s.file.keys); // in the order of the file (SPEC 1.4, 8)
  const order = readOrder(s, commit.entry.commit.context);
  const close = found.close?.entry.close;
  const disclosed = found.disclosure?.entry.disclosure ?? (close?.outcome === CONTINUED ? null : close ?? null);
  Object.assign(s, found, { order, genesis, commit, context: commit.entry.commit.context, disclosed });
  return `genesis, commit${found.mix ? ", mix" : ""}, ${many(found.deals.length, "deal")}${found.reveals.length ? `, ${many(found.reveals.length, "reveal")}` : ""}${found.takeovers.length ? `, ${many(found.takeovers.length, "takeover")}` : ""}${found.close ? ", close" : ", no close yet"}${found.disclosure ? ", disclosure" : ""}`;
}

const called = (type: string) => type === "opaque" ? "an entry of a type that is passed over" : type === "act" || type === "event" ? `an ${type}` : `a ${type}`;
