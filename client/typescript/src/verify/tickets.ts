// Proofs of tickets (16.3).
import { ascii, equal, fromBase64, join, label, toBase64, u32, utf8 } from "./bytes.ts";
import { Fault, Malformed, Unknown } from "./errors.ts";
import { MAX_RANGE, MAX_TICKET } from "./terms.ts";
import { climb, leafOf } from "./tree.ts";
import type { Verdict } from "./types.ts";

export const ticketLeaf = (i: number, salt: Uint8Array, line: string) => leafOf(join(label("ticket"), u32(Math.floor(i / 2 ** 32)), u32(i % 2 ** 32), salt, utf8.encode(line)));
const TICKET = /^shuffled\/v1\/ticket\ncount ([1-9][0-9]{0,9})\nroot (\S{44})\nnumber ([1-9][0-9]{0,9})\nline ([A-Za-z0-9][A-Za-z0-9._-]{0,63})\nsalt (\S{24})\n((?:\S{44}\n)*)$/;

interface Ticket { count: number; root: string; number: number; line: string }

// readTicket gives what the proof of a ticket says. It throws if the proof does not hold.
export function readTicket(input: string | Uint8Array): Ticket {
  if (input.length > MAX_TICKET) throw new Malformed("proof of a ticket: above 2,048 bytes");
  const text = typeof input === "string" ? input : ascii(input);
  const other = /^shuffled\/v([1-9][0-9]{0,9})\/ticket\n/.exec(text);
  if (other && other[1] !== "1") throw new Unknown(`proof of a ticket, version ${other[1]}`);
  const found = TICKET.exec(text), bytes = (s: string, n: number) => { const b = fromBase64(s); return b?.length === n ? b : null; };
  if (!found) throw new Malformed("no proof of a ticket, or not in its one form");
  const count = Number(found[1]), number = Number(found[3]), line = found[4]!;
  const root = bytes(found[2]!, 32), salt = bytes(found[5]!, 16), path = found[6]!.split("\n").slice(0, -1).map((s) => bytes(s, 32)).filter((h) => h !== null);
  if (!root || !salt || path.length !== found[6]!.length / 45) throw new Malformed("proof of a ticket: no base64 of its length");
  if (count < 2 || count > MAX_RANGE || number > count) throw new Malformed("proof of a ticket: a count or number that no list has");
  const reached = climb(ticketLeaf(number - 1, salt, line), number - 1, count, join(...path));
  if (reached === null || !equal(reached, root)) throw new Fault(`the proof of ticket ${line} does not lead to the root that it names`);
  return { count, root: toBase64(root), number, line };
}

// ticketOf is readTicket for a ticket of the list that the verdict names. It throws if the ticket
// is of another list. place is missing if the file does not show the ticket's number.
export function ticketOf(input: string | Uint8Array, { terms, cards }: Pick<Verdict, "terms" | "cards">): Ticket & { place?: number } {
  const t = readTicket(input);
  if (terms?.kind !== "ticket_list" || t.count !== terms.count || t.root !== terms.hash) throw new Fault("it is of another list of tickets");
  return { ...t, place: cards?.find((card) => card.shows === t.number)?.place };
}
