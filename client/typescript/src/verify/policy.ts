// Witness policies (C2SP tlog-policy; 7.3).
import { equal, fromUTF8, join, utf8 } from "./bytes.ts";
import { Malformed, Unknown } from "./errors.ts";
import { COSIGNATURE, ED25519, ML_DSA, readLogKey, readVerifierKey } from "./keys.ts";
import type { Group, Node, NoteKey, Policy, State, Witness } from "./types.ts";

const WORDS = new Set(["log", "witness", "group", "quorum", "any", "all", "none"]);
export const MAX_POLICY = 131072, MAX_LINE = 8192, MAX_LINES = 64;

// readPolicy reads a policy (7.3), given as text or as its bytes.
export function readPolicy(input: string | Uint8Array): Policy {
  const refuse = (why: string): never => { throw new Malformed(`policy: ${why}`); };
  if (input.length > MAX_POLICY) refuse("above 131,072 bytes");
  const bytes = typeof input === "string" ? utf8.encode(input) : input;
  if (bytes.length > MAX_POLICY) refuse("above 131,072 bytes");
  const text = fromUTF8(bytes);
  if (!equal(utf8.encode(text), bytes)) refuse("not UTF-8");
  const p: Policy = { logs: [], witnesses: [], groups: [], quorum: null };
  let quorum: string | undefined;
  // named is by the name in the policy, byKey by the name in the vkey. grouped has the members of groups.
  const named = new Map<string, Node>(), byKey = new Map<string, Node>(), grouped = new Set<Node>();
  const add = <T>(list: T[], item: T, word: string) => { if (list.push(item) > MAX_LINES) refuse(`more than 64 lines of ${word}`); };
  const define = (name: string, node: Node) => {
    if (WORDS.has(name) || named.has(name)) refuse(`the name ${name} is taken`);
    named.set(name, node);
  };
  const fresh = <T extends NoteKey>(list: NoteKey[], key: T): T => { if (list.some((k) => equal(k.typed, key.typed))) refuse("a key twice"); return key; };
  const LINES: Record<string, (words: string[]) => void> = {
    log([vkey, ...url]) {
      if (vkey === undefined || url.length > 1) return refuse("a log line that is none");
      add(p.logs, fresh(p.logs, readLogKey(vkey)), "log");
    },
    witness([name, vkey, ...url]) {
      if (name === undefined || vkey === undefined || url.length > 1) return refuse("a witness line that is none");
      // Lines whose vkeys have one name are one witness.
      const key = readVerifierKey(vkey, COSIGNATURE, ML_DSA), node = byKey.get(key.name) ?? { called: name, d: 1 };
      const line: Witness = { ...key, called: name, node };
      add(p.witnesses, fresh(p.witnesses, line), "witness");
      byKey.set(line.name, node);
      define(name, node);
    },
    group([name, threshold, ...members]) {
      if (name === undefined || members.length === 0) return refuse("a group line that is none");
      const nodes = new Set<Node>();
      for (const [i, m] of members.entries()) {
        const node = named.get(m);
        if (node === undefined) return refuse(`${m} is not defined above`);
        if (members.indexOf(m) < i || grouped.has(node) && !nodes.has(node)) refuse(`${m} is a member twice`);
        grouped.add(node);
        nodes.add(node);
      }
      const need = threshold === "any" ? 1 : threshold === "all" ? nodes.size : /^[1-9][0-9]*$/.test(threshold!) ? Number(threshold) : 0;
      if (need < 1 || need > nodes.size) refuse(`the threshold of group ${name}`);
      const group: Group = { called: name, d: 0, need, members: [...nodes].sort((a, b) => a.d - b.d) };
      group.d = group.members.slice(0, shared(group)).reduce((sum, m) => sum + m.d, 0);
      add(p.groups, group, "group");
      define(name, group);
    },
    quorum([name, ...more]) {
      if (name === undefined || more.length > 0 || quorum !== undefined) refuse("a quorum line that is none, or the second");
      quorum = name;
    },
  };
  for (const line of text.split("\n")) {
    if (line.length > MAX_LINE || utf8.encode(line).length > MAX_LINE) refuse("a line above 8,192 bytes");
    if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(line)) refuse("a control character");
    const [word, ...rest] = line.split(/[\t ]+/).filter((w) => w !== "");
    if (word === undefined || word.startsWith("#")) continue;
    if (!/^[\t\x20-\x7e]*$/.test(line) || line.includes("#")) refuse("a line that is not plain ASCII");
    if (!Object.hasOwn(LINES, word)) refuse("a line that is none of log, witness, group and quorum");
    LINES[word]!(rest);
  }
  if (quorum === undefined) return refuse("no quorum");
  const node = named.get(quorum);
  if (quorum !== "none" && node === undefined) refuse(`${quorum} is not defined`);
  p.quorum = node ?? null;
  for (const log of p.logs) {
    const own = ownWitness(p.witnesses, log.name, p.logs.map((l) => l.typed));
    if (own) refuse(own);
  }
  if (p.quorum && !isMet(p.quorum, new Set(p.witnesses.filter((w) => !w.unknown).map((w) => w.node))))
    throw new Unknown("policy: a quorum that cannot be met without a witness key of an unknown type");
  return p;
}

// ownWitness names a witness that is the ledger itself: it has the ledger's name or one of its
// signing keys, given with type byte (7.3). It gives null if there is none.
export function ownWitness(witnesses: Witness[], origin: string, keys: Uint8Array[]): string | null {
  const signs = (typed: Uint8Array) => keys.some((k) => equal(k, typed));
  const own = witnesses.find((w) => w.name === origin || signs(w.typed) || w.type === COSIGNATURE && signs(join(Uint8Array.of(ED25519), w.key)));
  return own ? `witness ${own.called} has the ${own.name === origin ? "name" : "signing key"} of the ledger` : null;
}

const isGroup = (node: Node): node is Group => node.members !== undefined;

// shared gives how many members two sets that meet a group have in common at least.
const shared = ({ need, members }: Group) => Math.max(0, 2 * need - members.length);

// split gives two sets of witnesses that meet a node and share no more than d of them.
function split(node: Node): [string[], string[]] {
  if (!isGroup(node)) return [[node.called], [node.called]];
  const both = shared(node), alone = node.need - both, sets: [string[], string[]] = [[], []];
  for (const [i, m] of node.members.slice(0, both + 2 * alone).entries()) {
    const [a, b] = split(m);
    if (i < both + alone) sets[0].push(...a);
    if (i < both || i >= both + alone) sets[1].push(...b);
  }
  return sets;
}

// noLevel tells why a policy gives no level above recorded: two of its quorums share no witness, or
// a witness is the ledger itself (10.2). It gives null if neither is so.
export function noLevel({ file, trust, genesis }: State): string | null {
  if (trust.quorum && trust.quorum.d === 0) {
    const [a, b] = split(trust.quorum);
    return `the quorum of ${a.join(", ")} and the quorum of ${b.join(", ")} share no witness, so that each can cosign a history of its own and none of them lies`;
  }
  const keys = file.keys.map((r) => r.entry.key.key!);
  return ownWitness(trust.witnesses, file.checkpoint.origin, [...(genesis ? [genesis.entry.genesis.signing_key] : []), ...keys]);
}

// isMet tells whether a set of witnesses meets a node.
export const isMet = (node: Node, cosigned: Set<Node>): boolean => !isGroup(node)
  ? cosigned.has(node)
  : node.members.filter((m) => isMet(m, cosigned)).length >= node.need;
