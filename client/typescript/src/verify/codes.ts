// The codes of section 15 by their names, limits of 1.2, and reserved identities.
import { CODES } from "./codes.gen.ts";

export { CODES };

export type ListName = keyof typeof CODES;
const LISTS: Record<ListName, { open: boolean; names: Record<number, string> }> = CODES;

// known tells whether a list has a code. isOpen tells whether a list can have codes that are not critical (1.4).
export const known = (list: ListName, code: number) => Object.hasOwn(LISTS[list].names, code);
export const isOpen = (list: ListName) => LISTS[list].open;

// nameOf gives the name of a code, undefined if the code was passed over. told gives it as a
// verdict writes it (10.4). codeOf gives the code of a name.
export const nameOf = (list: ListName, code: number): string | undefined => LISTS[list].names[code];
export const told = (list: ListName, code: number) => nameOf(list, code) ?? `unknown(${code})`;

export function codeOf(list: ListName, name: string): number {
  const found = Object.keys(LISTS[list].names).find((code) => nameOf(list, Number(code)) === name);
  if (found === undefined) throw new Error(`no code of ${list} is called ${name}`);
  return Number(found);
}

export const CARDS = 1, DRAWS = 2, NUMBERS = 3; // kinds of a context (5.2)

export const PUBLIC = codeOf("disclosure", "public");
export const COSIGNED = codeOf("deals", "cosigned");
export const SLOT = codeOf("source", "slot"), BEACON = codeOf("source", "beacon"), CUT = codeOf("source", "cut");
export const CO_DEALER = codeOf("source", "co_dealer");
export const FOR_LEDGER = codeOf("context_extension", "for_ledger"), ASK_KEY = codeOf("commit_extension", "ask_key");
export const ASKED = codeOf("deal_extension", "asked"), BLIND = codeOf("deal_extension", "blind");
export const BLIND_CLOSE = codeOf("close_extension", "blind"), FOLLOWS = codeOf("close_extension", "follows");
export const TERMS = codeOf("context_extension", "terms");
export const WHEEL = codeOf("terms", "wheel"), TICKET_LIST = codeOf("terms", "ticket_list");
export const ORDER = codeOf("purpose", "order"), ASIDE = ["burn", "discard"].map((name) => codeOf("purpose", name));
export const CONTINUED = codeOf("outcome", "continued"), VOID = codeOf("outcome", "void"), EXPIRED = codeOf("outcome", "expired");
export const SEAT = codeOf("purpose", "seat"), CODEALER_REASON = codeOf("reason", "co_dealer");
export const TAPE_LOST = codeOf("reason", "tape_lost");
export const NO_TAPE = codeOf("form", "none"), TAPE = codeOf("form", "tape"), SEALED = codeOf("form", "sealed");
export const SIGNING = codeOf("subject", "signing");
export const PLAY = codeOf("extent", "play");

export const QUICKNET = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"; // chain hash (4.4)

export const RESERVED = ["daemon", "operator"]; // identities (1.5)

export const MAX_CARDS = 4096, MAX_ENTRY = 48000, MAX_PASSED = 1024, MAX_TAKEOVERS = 16, MAX_ADMINISTRATORS = 16, REVISION = 1;
