// Transcripts (section 8), and what the first bytes of a file say that it is (10).
import { MAX_INT, fromBase64, join, starts, utf8 } from "./bytes.ts";
import { Canonical, type Span } from "./canonical.ts";
import { readCheckpoint } from "./checkpoint.ts";
import { MAX_CARDS } from "./codes.ts";
import { Malformed, Unknown } from "./errors.ts";
import { NAME } from "./reader.ts";
import { BRACE, MAX_FILE, MAX_RECEIPT, RECEIPT_VERSION, TRANSCRIPT_VERSION, isOtherVersion, readReceipt } from "./receipt.ts";
import { readStatement } from "./statement.ts";
import { MAX_DOCUMENT } from "./terms.ts";
import type { Bytes, Card, Checkpoint, EvidenceFile, Last, Of, Receipt } from "./types.ts";

const FORMAT = "shuffled/v1/transcript";

// Form is a transcript in which the texts of 7.1, 7.2 and 8.1 are not read yet.
interface Form extends Pick<EvidenceFile, "kind" | "id" | "recipient" | "deck" | "terms" | "cards"> {
  checkpoint: Span; receipts: Span[]; witnessed?: Last & { checkpoint: Span }; keys: { receipt: Span; checkpoint: Span }[]; statements: Span[];
  second?: { receipts: Span[]; heads: Last[]; keys: Form["keys"]; unplayed: Card[] };
}

// readForm reads the JSON, and leaves the texts in it as spans.
export function readForm(j: Canonical): Form {
  j.expect(`{"format":"${FORMAT}"`);
  const t = { kind: "transcript" } as Form;
  j.expect(',"id":');
  t.id = j.integer(1, MAX_INT);
  if (j.next(',"recipient":')) {
    t.recipient = j.string();
    if (!NAME.test(t.recipient)) j.refuse("the recipient is not a name");
  }
  if (j.next(',"deck":')) {
    t.deck = j.list(() => j.string(), MAX_CARDS, "names of cards");
    if (t.deck.length === 0) j.refuse("a deck without cards is left out");
  }
  if (j.next(',"terms":')) {
    const text = j.string();
    const terms = text === "" || text.length > Math.ceil(MAX_DOCUMENT / 3) * 4 ? null : fromBase64(text);
    if (terms === null || terms.length > MAX_DOCUMENT) j.refuse("the terms are not padded base64 of 1 to 65,536 bytes");
    t.terms = terms;
  }
  j.expect(',"checkpoint":');
  t.checkpoint = j.span();
  j.expect(',"receipts":');
  t.receipts = j.list(() => j.span(), 8213, "receipts");
  if (t.receipts.length < 2) j.refuse("fewer than 2 receipts");
  if (j.next(',"witnessed":{"checkpoint":')) {
    const checkpoint = j.span();
    j.expect(",");
    t.witnessed = { checkpoint, ...readLast(j) };
    j.expect("}");
  }
  t.keys = [];
  if (j.next(',"keys":')) {
    t.keys = j.list(() => readHandover(j), 1024, "signing keys");
    if (t.keys.length === 0) j.refuse("keys without any are left out");
  }
  t.statements = [];
  if (j.next(',"statements":')) {
    t.statements = j.list(() => j.span(), 8, "statements");
    if (t.statements.length === 0) j.refuse("statements without any are left out");
  }
  if (j.next(',"co_dealer":{"receipts":')) {
    t.second = { receipts: j.list(() => j.span(), 8213, "receipts"), heads: [], keys: [], unplayed: [] };
    if (t.second.receipts.length === 0) j.refuse("a co-dealer without receipts");
    if (j.next(',"heads":')) {
      t.second.heads = j.list(() => { j.expect("{"); const last = readLast(j); j.expect("}"); return last; }, 8212, "heads");
      if (t.second.heads.length === 0 || t.second.heads.length !== t.second.receipts.length - 1) j.refuse("heads stand for each receipt of the co-dealer but the last");
    }
    if (j.next(',"keys":')) {
      t.second.keys = j.list(() => readHandover(j), 1024, "signing keys");
      if (t.second.keys.length === 0) j.refuse("keys without any are left out");
    }
    if (j.next(',"unplayed":')) {
      t.second.unplayed = j.list(() => readCard(j), 64, "places that were not played");
      if (t.second.unplayed.length === 0) j.refuse("what was not played is left out where it is nothing");
    }
    j.expect("}");
  }
  j.expect(',"cards":');
  t.cards = j.list(() => readCard(j), MAX_CARDS, "cards");
  j.expect("}");
  if (j.at !== j.bytes.length) j.refuse("text after the transcript");
  return t;
}

// readTranscript reads the JSON, and then the texts in it in their order (1.4).
export function readTranscript(bytes: Bytes): EvidenceFile {
  const j = new Canonical(bytes), form = readForm(j);
  const checkpoint = readCheckpoint(j.content(form.checkpoint));
  const bare = (span: Span, under: () => Checkpoint) => {
    const { signed: own, ...r } = readReceipt(j.content(span));
    if (own.length > 0) throw new Malformed("a receipt has a checkpoint of its own, where the transcript holds that of all");
    return { ...r, checkpoint: under() } as Receipt;
  };
  const receipts = form.receipts.map((span) => bare(span, () => checkpoint));
  const another = (signed: Bytes, origin: string) => {
    const of = readCheckpoint(signed);
    if (of.origin !== origin) throw new Malformed("the checkpoints have different origins");
    return of;
  };
  const handovers = (keys: Form["keys"], origin: string) => keys.map((k) => bare(k.receipt, () => another(j.content(k.checkpoint), origin)) as Of<"key">);
  const { witnessed: early, second, ...t } = form, { origin } = checkpoint;
  const witnessed = early && { witnessed: { ...early, checkpoint: another(j.content(early.checkpoint), origin) } };
  const keys = handovers(t.keys, origin), by = new Set<string>();
  const statements = t.statements.map((span) => {
    const s = readStatement(j.content(span));
    for (const { name, id } of s.signatures) {
      if (by.has(`${name} ${id}`)) throw new Malformed(`a second statement of ${name}`);
      by.add(`${name} ${id}`);
    }
    return s;
  });
  let of: string | undefined; // the co-dealer's origin
  const next = (span: Span) => {
    const { signed: own, ...r } = readReceipt(j.content(span)), checkpoint = of === undefined ? readCheckpoint(own) : another(own, of);
    of = checkpoint.origin;
    return { ...r, checkpoint } as Receipt;
  };
  const co_dealer = second && { co_dealer: { ...second, receipts: second.receipts.map(next), keys: handovers(second.keys, of!) } };
  return { ...t, receipts, checkpoint, ...witnessed, keys, statements, ...co_dealer };
}

function readOpening(j: Canonical): { salt: Bytes; proof: Bytes } {
  const salt = j.hash("a salt");
  j.expect(',"proof":');
  return { salt, proof: join(...j.list(() => j.hash("a hash of an opening"), 12, "hashes in an opening")) };
}

// readLast reads the leaf hash of the last entry of a tree, and the path of that entry in a larger one.
function readLast(j: Canonical): Last {
  j.expect('"leaf":');
  const leaf = j.hash("a leaf");
  j.expect(',"proof":');
  return { leaf, path: join(...j.list(() => j.hash("a hash of a path"), 63, "hashes in a path")) };
}

function readHandover(j: Canonical): { receipt: Span; checkpoint: Span } {
  j.expect('{"receipt":');
  const receipt = j.span();
  j.expect(',"checkpoint":');
  const checkpoint = j.span();
  j.expect("}");
  return { receipt, checkpoint };
}

function readCard(j: Canonical): Card {
  const c = {} as Card;
  j.expect('{"place":');
  c.place = j.integer(0, MAX_CARDS - 1);
  j.expect(',"position":');
  c.position = j.integer(0, MAX_CARDS - 1);
  j.expect(',"value":');
  c.value = j.integer(0, 2 ** 32 - 1); // 6.3: a u32
  if (j.next(',"card":')) {
    c.card = j.string();
    if (c.card === "") j.refuse("a card without a name leaves it out");
  }
  j.expect(',"salt":');
  Object.assign(c, readOpening(j));
  if (j.next(',"by":{"value":')) {
    const value = j.integer(0, 2 ** 32 - 1);
    j.expect(',"salt":');
    c.by = { value, ...readOpening(j) };
    j.expect("}");
  }
  j.expect("}");
  return c;
}

export function readFile(input: string | Bytes): EvidenceFile {
  const bytes = readBytes(input);
  if (bytes[0] === BRACE) return readTranscript(bytes);
  if (!starts(bytes, "c2sp.org/tlog-proof@")) throw new Malformed("neither a transcript nor a receipt");
  const { signed, ...receipt } = readReceipt(bytes), checkpoint = readCheckpoint(signed);
  return { kind: "receipt", receipts: [{ ...receipt, checkpoint } as Receipt], checkpoint, id: 0, keys: [], statements: [], cards: [] };
}

// readBytes checks the file as a whole: its size, its version, and that it is UTF-8.
function readBytes(input: string | Bytes): Bytes {
  if (input.length > MAX_FILE) throw new Malformed("above 32 MiB");
  const bytes = typeof input === "string" ? utf8.encode(input) : input;
  if (bytes.length > MAX_FILE) throw new Malformed("above 32 MiB");
  if (isOtherVersion(bytes, ...TRANSCRIPT_VERSION)) throw new Unknown("transcript format, of another version");
  if (bytes.length <= MAX_RECEIPT && isOtherVersion(bytes, ...RECEIPT_VERSION)) throw new Unknown("receipt format, of another version");
  if (typeof input === "string") {
    if (/\p{Surrogate}/u.test(input)) throw new Malformed("not Unicode");
    return bytes;
  }
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try { // in pieces, so that memory never holds the whole decoded text
    for (let at = 0; at < bytes.length; at += 65536) decoder.decode(bytes.subarray(at, at + 65536), { stream: true });
    decoder.decode();
  } catch {
    throw new Malformed("not UTF-8");
  }
  return bytes;
}
