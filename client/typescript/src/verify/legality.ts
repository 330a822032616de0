// The step legality (9, 10.3).
import { isQuicknet, roundTime } from "./beacon.ts";
import { equal } from "./bytes.ts";
import { blindClose, blindCommit, blindDeal, blindReveal } from "./blindrules.ts";
import { dealt } from "./cardsteps.ts";
import { ASIDE, CARDS, CONTINUED, CO_DEALER, COSIGNED, CUT, DRAWS, EXPIRED, MAX_TAKEOVERS, NO_TAPE, NUMBERS, ORDER, PLAY, PUBLIC, RESERVED, SEALED, SLOT, TAPE, TAPE_LOST, TICKET_LIST, WHEEL, codeOf } from "./codes.ts";
import { canSeal, strongKey } from "./curves.ts";
import { ADDED, HYBRID } from "./fields.ts";
import { positions, ranges, tapeLength } from "./draws.ts";
import { Fault, Malformed } from "./errors.ts";
import { mixed, slotHash } from "./mix.ts";
import { ownWitness, readPolicy } from "./policy.ts";
import type { Outcome } from "./step.ts";
import type { Bodies, Context, Entry, Genesis, Policy, Receipt, Run, Tape, Whole } from "./types.ts";

// A Must throws a Fault that names the rule of section 9, unless holds is true.
export type Must = (holds: boolean, rule: string, what: string) => void;
// Has is an entry with every body. A rule reads only the body of its own type, which is there.
export type Has = Entry & Required<Bodies>;

export function stepLegality(s: Whole): Outcome {
  const { receipts } = s.file;
  s.next = s.lastRound = 0;
  s.revealed = new Set();
  s.given = new Map();
  for (let i = 0; i < receipts.length; i++) {
    const { index, entry } = receipts[i]!;
    const must: Must = (holds, rule, what) => { if (!holds) throw new Fault(`${rule}: entry ${index}, a ${entry.type}, ${what}`); };
    must(i === 0 || entry.time >= receipts[i - 1]!.entry.time, "time", "is older than the entry before it");
    if (i > 0) mustPair(receipts[i - 1]!, receipts[i]!, must);
    RULES[entry.type]!(s, entry as Has, index, must);
  }
  const last = receipts.at(-1)!;
  if (isFinal(last.entry)) throw new Fault(`pair: entry ${last.index}, a final ${last.entry.type}, has no close behind it`);
  return "the rules hold, as far as this shuffle's own entries show";
}

const isFinal = ({ deal, reveal }: Entry) => (deal?.final || reveal?.final) === true;

function mustPair(before: Receipt, { index, entry }: Receipt, must: Must): void {
  const next = index === before.index + 1;
  const revealed = before.entry.deal !== undefined && entry.reveal?.final === true; // one final reveal can come before the close
  if (isFinal(before.entry)) must((entry.type === "close" || revealed) && next, "pair", `follows a final ${before.entry.type} and is not its close, at the next index`);
  if (before.entry.commit?.context.parent) must(!next, "pair", "stands where the close of the parent must");
  must(entry.close?.outcome !== CONTINUED || !next, "pair", "is continued, and no child stands before it");
  must(!entry.disclosure || !next, "not_open", "stands where the close of the last shuffle of its chain must");
}

const RULES: Record<string, (s: Whole, entry: Has, index: number, must: Must) => void> = { genesis: ruleGenesis, commit: ruleCommit, mix: ruleMix, deal: ruleDeal, close: ruleClose, takeover: ruleTakeover, reveal: ruleReveal, disclosure: ruleDisclosure };

function ruleGenesis(s: Whole, entry: Has, index: number, must: Must): void {
  const g = entry.genesis;
  must(strongKey(g.signing_key.subarray(1)), "key", "has a signing key that is no point of edwards25519, or a weak one");
  must(g.auditors.every(canSeal), "key", "has an auditor key that nothing can be sealed to");
  must(g.auditors.every((k) => mayHave(g, k[0]!)), "key", "has auditor keys of another type than it must, or of two");
  must(g.administrators.every((a) => strongKey(a.key.subarray(1))), "key", "has an administrator's key that is no point of edwards25519, or a weak one");
  must(g.administrators.every((a) => !equal(a.key, g.signing_key)), "key", "has an administrator who holds the signing key");
  ruleFirstPolicy(g, must);
  must(g.two_persons.length === 0 || g.administrators.length >= 2, "administrators", "asks for two persons, and has fewer administrators");
  must(!g.production || ALWAYS_TWO.every((act) => g.two_persons.includes(act)), "administrators", "is of a production ledger, and lets one person do what takes two");
}

// mayHave tells whether the ledger can have keys of this type that tapes are sealed to. In
// production they are hybrid, and no ledger has two types (9, key).
const mayHave = (g: Genesis, type: number) => (type === HYBRID || !g.production) && g.auditors.every((k) => k[0] === type);

const ALWAYS_TWO = ["administrator", "admin_credential", "takeover", "two_persons", "co_dealer"].map((name) => codeOf("act", name));

function ruleFirstPolicy(g: Genesis, must: Must): void {
  if (g.policy === "") return;
  let policy: Policy;
  try {
    policy = readPolicy(g.policy);
  } catch (e) {
    if (!(e instanceof Malformed)) throw e;
    return must(false, "key", `has a policy that cannot be read: ${e.message}`);
  }
  must(g.deals !== COSIGNED || policy.quorum !== null, "key", "makes deals wait for witnesses, and its policy asks for none");
  const own = ownWitness(policy.witnesses, g.origin, [g.signing_key]);
  must(!own, "key", `has a policy in which ${own}`);
}

function ruleCommit(s: Whole, entry: Has, index: number, must: Must): void {
  const c = entry.commit, g = s.genesis.entry.genesis;
  const below = (i: number) => i > 0 && i < index;
  must(below(c.instance), "instance", `names ${c.instance} as the start of its daemon`);
  must(c.serial === 1 || below(c.previous), "serial", `names ${c.previous} as the commit before`);
  must(c.close_by > entry.time && c.close_by - entry.time <= g.cap_on_close_by * 1000, "close_by", "closes too late, or before it begins");
  must(c.context.plan.every((p) => g.mix_modes & 1 << p.source - 1), "mix_modes", "plans a source that the ledger does not declare");
  for (const p of c.context.plan)
    must(!isQuicknet(p) || roundTime(p.round!) * 1000 > entry.time, "beacon", "plans a round that is out");
  must(!c.context.parent || below(c.context.parent.id), "parent", `names ${c.context.parent?.id} as its parent`);
  ruleTerms(c.context, must);
  blindCommit(c, must);
  must(!RESERVED.includes(entry.identity), "owner", `is of ${entry.identity}, which owns no shuffle`);
  s.owner = { identity: entry.identity, plays: true, takeovers: 0 };
}

// ruleTerms takes a child's terms for its parent's, which this file does not hold.
function ruleTerms({ terms, kind, ranges, of }: Context, must: Must): void {
  if (!terms) return;
  must(terms.kind !== WHEEL || kind === DRAWS && ranges.every((k) => k === ranges[0]), "terms", "has a wheel, and is no draw list of equal ranges");
  must(terms.kind !== TICKET_LIST || terms.count === of, "terms", "has a list of tickets, and is not of as many numbers");
}

// mustOwn refuses an entry of another identity than the owner. mustPlay also refuses an owner that can only close.
const mustOwn = (s: Whole, { identity }: Entry, must: Must) => must(identity === s.owner.identity, "owner", `is of ${identity}, and the owner of the shuffle is ${s.owner.identity}`);

function mustPlay(s: Whole, entry: Entry, must: Must): void {
  mustOwn(s, entry, must);
  must(s.owner.plays, "owner", `is of ${entry.identity}, which took the shuffle over to close it, and nothing else`);
}

function ruleTakeover(s: Whole, { identity, takeover }: Has, index: number, must: Must): void {
  const plays = takeover.extent === PLAY;
  must(!RESERVED.includes(identity), "owner", `is of ${identity}, which owns no shuffle`);
  must(identity !== s.owner.identity || plays && !s.owner.plays, "owner", `is of ${identity}, the owner already`);
  must(s.owner.takeovers < MAX_TAKEOVERS, "owner", "is one more than the 16 of a shuffle");
  s.owner = { identity, plays, takeovers: s.owner.takeovers + 1 };
}

function ruleMix(s: Whole, entry: Has, index: number, must: Must): void {
  const { mix } = entry, plan = mixed(s.context);
  must(entry.time < s.commit.entry.commit.close_by, "deadline", "comes after the time to close");
  mustPlay(s, entry, must);
  must(mix.values.length === plan.length, "mix", "has not one value for each source of the plan");
  for (const [i, v] of mix.values.entries()) {
    must(v.source === plan[i]!.source, "mix", "has values in another order than the plan");
    if (v.source === SLOT)
      must(equal(slotHash(s.context.origin, s.context.table, v.value!), plan[i]!.slot_hash!), "mix", "has a slot's value that was not promised");
    if (v.source === CUT) must(v.cut! < s.context.m, "mix", "cuts beyond the last card");
  }
  mustFollow(s, mix, index, must);
}

function mustFollow(s: Whole, { checkpoint }: { checkpoint: number }, index: number, must: Must): void {
  must(checkpoint <= index, "checkpoint", "names a checkpoint larger than the ledger");
  must(checkpoint > s.commit.index, "checkpoint", "names a checkpoint that does not cover the commit");
}

function ruleDeal(s: Whole, entry: Has, index: number, must: Must): void {
  const d = entry.deal;
  must(entry.time < s.commit.entry.commit.close_by, "deadline", "comes after the time to close");
  mustPlay(s, entry, must);
  const first = s.next === 0;
  must(d.first_place === s.next, "place", `starts at place ${d.first_place}, not ${s.next}`);
  s.next += d.runs.reduce((n, run) => n + run.cards, 0);
  must(s.next <= positions(s.context), "places", "goes beyond the last place");
  for (const [i, run] of d.runs.entries()) {
    must(s.context.kind !== NUMBERS || run.public, "places", "deals numbers that are not for everybody to see");
    must(run.purpose !== ORDER || i === d.runs.length - 1 && s.next === positions(s.context), "places", "hands over an order that is not the whole rest");
  }
  if (first && s.context.parent) s.lastRound = d.runs[0]!.round; // the parent's runs are in another file
  for (const { round } of d.runs) {
    must(round === s.lastRound || round === s.lastRound + 1, "round", `has a run of round ${round} after one of round ${s.lastRound}`);
    s.lastRound = round;
  }
  blindDeal(s, d, must);
  mustFollow(s, d, index, must);
}

function ruleReveal(s: Whole, entry: Has, index: number, must: Must): void {
  const { places, final, exposed } = entry.reveal;
  if (s.continued) must(!final, "reveal", "is final, and the shuffle was continued");
  else { // after a close as continued both rules are about a later shuffle, which this file does not hold
    must(entry.time < s.commit.entry.commit.close_by, "deadline", "comes after the time to close");
    mustPlay(s, entry, must);
  }
  const runs = s.runs ??= dealt(s);
  for (const place of places) {
    must(place < s.next, "reveal", `names place ${place}, which was not dealt`);
    must(!isPublic(s, runs, place), "reveal", `names place ${place}, which is public already`);
    blindReveal(s, runs[place]!, place, must);
    must(final || exposed || !ASIDE.includes(runs[place]!.purpose), "reveal", `names place ${place}, a burn or discard, and is neither final nor as exposed`);
    s.revealed.add(place);
  }
}

// isPublic tells whether everybody may see what a place shows (5.12).
export const isPublic = (s: Whole, runs: Run[], place: number) => runs[place]!.public || s.revealed.has(place);

function ruleClose(s: Whole, entry: Has, index: number, must: Must): void {
  const c = entry.close;
  const late = entry.time >= s.commit.entry.commit.close_by;
  const anybodys = c.reason === TAPE_LOST || c.outcome === EXPIRED && RESERVED.includes(entry.identity);
  if (!anybodys) mustOwn(s, entry, must);
  must(c.reason === TAPE_LOST || late === (c.outcome === EXPIRED), "deadline", late ? "comes after the time to close and is not expired" : "is expired before the time to close");
  s.continued = c.outcome === CONTINUED;
  must(!s.continued || canContinue(s.context), "outcome", "is continued, and such a shuffle has no child");
  blindClose(s, c, must);
  if (!s.continued) ruleTape(s, c, index, must);
}

// canContinue tells whether a shuffle can have a child (9, parent).
const canContinue = (c: Context) => c.kind === CARDS && c.for_ledger === undefined && c.plan.every((p) => p.source !== CO_DEALER);

function ruleDisclosure(s: Whole, entry: Has, index: number, must: Must): void {
  ruleTape(s, entry.disclosure, index, must);
}

function ruleTape(s: Whole, c: Tape, index: number, must: Must): void {
  if (c.form === NO_TAPE) return;
  const length = tapeLength(ranges(s.context)), publicly = s.context.disclosure === PUBLIC;
  must(c.form === (publicly ? TAPE : SEALED), "form", publicly ? "does not give the tape to everybody" : "does not seal the tape to auditors");
  const more = c.tape!.length - length; // no transcript holds the disclosure key, so both lengths are right (10.3)
  const fits = publicly ? more === 0 : Object.keys(ADDED).some((type) => more === ADDED[+type] && mayHave(s.genesis.entry.genesis, +type));
  must(fits, "form", `has a tape of ${c.tape!.length} bytes`);
  if (c.form === SEALED) must(c.disclosure_key! > 0 && c.disclosure_key! < index, "disclosure_key", `names ${c.disclosure_key} as its key`);
}
