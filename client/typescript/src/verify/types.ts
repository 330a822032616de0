// The types of what a file holds, after the structures of SPEC, and of a run of the verifier.
import type { ListName } from "./codes.ts";

// Bytes is the type that WebCrypto takes.
export type Bytes = Uint8Array<ArrayBuffer>;

// A Passed is a code that is not critical and not known, and was passed over (1.4).
export interface Passed { list: ListName; code: number }
export interface Extension { code: number; value: Bytes }

// ------------------------------------------------------------- entries, 5

export interface Source { source: number; slot_hash?: Bytes; chain_hash?: Bytes; round?: number; origin?: string; commit?: Foreign }
export interface Foreign { index: number; leaf: Bytes } // an entry of another ledger, or size and root of its checkpoint
export interface Follows extends Foreign { places: number } // places: dealt from the order in all
export interface Asked { commit: Foreign; after: Bytes; head: Foreign; state: Bytes; ask: Bytes }
export interface Blind { deal: Foreign; head: Foreign; values: number[] }
export interface EndAt { form: number; place?: number; lo?: number; hi?: number }
export interface Terms { kind: number; count?: number; hash: Bytes }
export interface Parent { id: number; positions: number[] }

export interface Context {
  origin: string; genesis: Bytes; production: boolean; table: string; algorithm: number; kind: number;
  deck_hash?: Bytes; n: number; m: number; of?: number; ranges: number[]; // n, m, of, ranges: by kind
  parent: Parent | null; plan: Source[]; end_at: EndAt; disclosure: number; terms: Terms | null; for_ledger?: string; extensions: Extension[];
}

export interface Commit {
  context: Context; contextBytes: Bytes; tag: Bytes; commitment: Bytes; deck_root: Bytes; serial: number;
  previous: number; close_by: number; game_reference: string; key_tag: Bytes; request_hash: Bytes; instance: number;
  ask_key?: Bytes; extensions: Extension[];
}

export interface MixValue { source: number; cut?: number; value?: Bytes }
export interface Mix { shuffle: number; checkpoint: number; values: MixValue[] }

export interface Run { cards: number; purpose: number; recipient: string; public: boolean; round: number }
export interface Deal {
  shuffle: number; first_place: number; checkpoint: number; final: boolean; runs: Run[];
  asked?: Asked; blind?: Blind; extensions: Extension[];
}

// Tape is what a close or disclosure says of a tape, and how many entries of the shuffle stand in front of it.
export interface Tape { entries: number; form: number; tape?: Bytes; disclosure_key?: number }
export interface Close extends Tape {
  shuffle: number; outcome: number; reason: number; blind?: Blind; follows?: Follows; extensions: Extension[];
}
export interface Disclosure extends Tape { shuffle: number; extensions: Extension[] }
export interface Reveal {
  shuffle: number; final: boolean; exposed: boolean; places: number[]; extensions: Extension[];
}
export interface Takeover { shuffle: number; extent: number; reason: string }

export interface Administrator { name: string; key: Bytes }
export interface Genesis {
  revision: number; origin: string; production: boolean; signing_key: Bytes; policy: string; auditors: Bytes[];
  deals: number; mix_modes: number; disclosure: number; default_close_by: number; cap_on_close_by: number;
  access: number; predecessor: Bytes; administrators: Administrator[]; two_persons: number[]; delay: number;
  extensions: Extension[];
}

export interface KeyEntry { subject: number; key?: Bytes }
export interface Act {
  act: number; digest: Bytes; previous: number; head_size: number; head_root: Bytes; expires: number;
  signatures: { administrator: string; signature: Bytes }[];
}

// Bodies has a body by the name of its type.
export interface Bodies {
  genesis: Genesis; commit: Commit; mix: Mix; deal: Deal; close: Close; key: KeyEntry; event: { kind: number };
  takeover: Takeover; credential_entry: { kind: number; credential: string }; act: Act; reveal: Reveal;
  disclosure: Disclosure; opaque: { type: number; body: Bytes };
}

export interface Entry extends Partial<Bodies> {
  type: string; time: number; identity: string; credential: string; passed: Passed[];
}

// ------------------------------------------- receipts and transcripts, 7 and 8

export interface Signature { name: string; id: string; bytes: Bytes }
export interface Note { body: Bytes; signatures: Signature[] }
export interface Checkpoint extends Note {
  origin: string; size: number; root: Bytes;
  cosigned?: Map<Witness, number>; // set by the step witnesses
  complete?: number | undefined;
}
export interface Statement extends Note { origin: string; id: number; commit: Bytes; tape: Bytes }

// The step entries sets the entry of a Receipt.
export interface Receipt { bytes: Bytes; index: number; proof: Bytes; checkpoint: Checkpoint; entry: Entry }
export type Of<K extends keyof Bodies> = Receipt & { entry: Entry & Required<Pick<Entry, K>> };

// Last is the leaf hash of the last entry of a tree, and the path of that entry in a larger one.
export interface Last { leaf: Bytes; path: Bytes }

export interface Opening { position: number; value: number; salt: Bytes; proof: Bytes }
export interface Card extends Opening { place: number; card?: string; by?: Omit<Opening, "position"> }

export interface EvidenceFile {
  kind: "receipt" | "transcript"; receipts: Receipt[]; checkpoint: Checkpoint;
  id: number; recipient?: string; deck?: string[]; terms?: Bytes; // id and what follows: of a transcript
  witnessed?: Last & { checkpoint: Checkpoint; unmet?: boolean }; // an earlier checkpoint, whose tree the receipts' begins with
  keys: Of<"key">[]; // of a transcript: under the receipts' checkpoint, with the checkpoint that hands on
  statements: Statement[]; cards: Card[];
  co_dealer?: { receipts: Receipt[]; heads: Last[]; keys: Of<"key">[]; unplayed: Card[] }; // heads: of each checkpoint in the tree of the next
}

// --------------------------------------------------------------- whom to trust

// A NoteKey is a verifier key. typed is the type byte and the key. If its type is unknown, none of
// its signatures counts.
export interface NoteKey { name: string; id: string; key: Bytes; typed: Bytes; type: number; unknown?: boolean }
// A Node is a Group of a policy, or a witness, which has no members. d is how many witnesses two
// sets that meet the node share at least (7.3).
export interface Node { called: string; d: number; need?: number; members?: Node[] }
export interface Group extends Node { need: number; members: Node[] }
export interface Witness extends NoteKey { called: string; node: Node }
export interface Policy { logs: NoteKey[]; witnesses: Witness[]; groups: Group[]; quorum: Node | null }

// Trust is what a reader gives the verifier (10): a verifier key or a policy, keys of auditors,
// values of the reader's own slots, and what concerns a co-dealer.
export interface Trust {
  vkey?: string | undefined;
  policy?: string | Uint8Array | undefined;
  auditors?: string[] | undefined;
  slots?: Uint8Array[] | undefined;
  coDealer?: string | Uint8Array | undefined; // a policy for the ledger of a co-dealer
  history?: string | Uint8Array | undefined; // text of the game's history (SPEC-BLIND 3)
  deck?: string | undefined; // the published deck that must have been shuffled as a whole (3.2)
}

export interface ReadTrust {
  logs: NoteKey[]; witnesses: Witness[]; quorum?: Node | null; slots: Bytes[]; auditors: NoteKey[];
  second?: Policy; // for the ledger of a co-dealer
  history?: Bytes; // of the game
  deck?: { name: string; cards: string[] };
}

// ------------------------------------------------------------------------ a run

export interface KnownTerms {
  kind: string; hash: string; count?: number; labels?: Label[]; text?: string; house_could_choose?: true;
}
export interface Label { label: string; weight: number }

// State is what a run knows. For a receipt alone, genesis or commit is set if the receipt is of one.
export interface State {
  input: string | Bytes; trust: ReadTrust; file: EvidenceFile;
  genesis?: Of<"genesis">; commit?: Of<"commit">; cannot?: string; mine?: Set<number>;
}

// Whole is the State of a transcript after the step entries.
export interface Whole extends State {
  genesis: Of<"genesis">; commit: Of<"commit">; context: Context;
  mix: Of<"mix"> | null; deals: Of<"deal">[]; reveals: Of<"reveal">[]; takeovers: Of<"takeover">[];
  close: Of<"close"> | null; disclosure: Of<"disclosure"> | null;
  disclosed: Tape | null; // of the close, or of the disclosure of a shuffle that was continued
  next: number; lastRound: number; revealed: Set<number>; owner: { identity: string; plays: boolean; takeovers: number }; // set by the step legality
  order: Order | null; given: Map<number, number>; // of the co-dealer: entries of its ledger, and its values by place
  runs?: Run[]; continued?: boolean;
  round?: number; // of the beacon, if the step beacon holds
  shuffled?: Shuffled; terms?: KnownTerms;
  positionAt: (place: number) => number; shown: (card: Card) => number; // set by the step openings
  endAt?: number; values?: number[]; // set by the step order
  stated?: Stated[];
}

// Order is what the file holds of the co-dealer's ledger. holds tells that the step co_dealer holds, and that heads
// show one history.
export interface Order {
  origin: string; receipts: Receipt[]; keys: Of<"key">[]; commit: Of<"commit">; deals: Of<"deal">[]; close: Of<"close"> | null;
  holds: boolean;
}
export interface AskedRun { places: number; purpose: string; recipient?: string | undefined; public?: true | undefined; round?: number | undefined }
export interface Blindness {
  co_dealer: string; requests: { place: number; places: number; runs: AskedRun[]; time?: string | undefined; state?: string | undefined; history?: "checked" | "differs"; line?: number;
    unplayed?: true | undefined; cards?: ShownCard[] | undefined }[];
  closed?: true | undefined; order_checked: boolean;
}

// Shuffled names what was shuffled. Without deck, the cards are those of like, apart from those of differs.
export interface Shuffled extends Likeness { kind: "cards" | "draws" | "numbers"; cards?: number; parent?: number; of?: number; ranges?: number[] }
export interface Likeness { deck?: string; like?: string; differs?: Record<string, number> | undefined }

export interface Stated { name: string; trusted: boolean }

// ---------------------------------------------------------- the verdict, 10.4

export type Result = "ok" | "failed" | "not checked";
export interface StepResult { name: string; result: Result; detail: string; cause?: string }
export type Level = "key not pinned" | "recorded" | "witnessed" | "mixed";

export interface ShownCard {
  place: number; position: number; value: number; shows?: number; card?: string; label?: string;
  purpose: string; recipient?: string; public: boolean; round?: number; revealed?: true;
}
export interface ToldTakeover {
  index: number; time?: string; identity: string; credential: string; from: string; place: number; extent: string;
  reason: string;
}
export interface PassedOver { list: string; code: number; count: number; first: number }

export interface Verdict {
  verdict: "proved" | "consistent" | "failed" | "cannot judge";
  steps: StepResult[];
  level?: Level; failed?: string; unknown?: string; overlap?: number;
  key_in_force?: "not_shown" | undefined;
  mixed?: { for: "everybody" | "slot"; witnessed?: string | undefined; round?: number | undefined; time?: string | undefined; slot?: string }[]; // round and time: for everybody
  kind?: "receipt" | "transcript"; ledger?: string; production: boolean;
  checkpoint?: { origin: string; size: number };
  passed_over?: PassedOver[]; witnesses?: { name: string; time?: string }[]; late?: { name: string; time?: string }[];
  entry?: { index: number; type: string; time?: string; identity: string; credential: string };
  id?: number; recipient?: string; owner?: string; table?: string; serial?: number; game_ref?: string;
  commitment?: string; deck_root?: string; disclosure?: string; committed_at?: string; close_by?: string;
  places?: number; end_at?: number; shuffled?: Shuffled; terms?: KnownTerms; takeovers?: ToldTakeover[];
  next?: number; shown?: number; last_round?: number; last_goes_on?: true; state?: "open" | "continued" | "closed";
  closed_at?: string; outcome?: string; reason?: string; statements?: Stated[]; blind?: Blindness | undefined; not_blind?: string; cards?: ShownCard[];
  dealt_on?: "opened_only" | "not_shown"; not_dealt_on?: number;
}

// Story is what the page tells of a shuffle alongside its verdict.
export interface Story {
  deck?: string[]; ranges: number[] | null; of: number | null; cards: number; taken: number;
  plan: { source: string; mine: boolean; round?: number; cut?: number }[]; // without a co-dealer
  coDealer?: string; // origin of its ledger
  mixed: boolean; dealers: { identity: string; first: number; last: number }[]; choice: string | null;
  parent: { id: number; cards: number } | null;
  cutCard: { place?: number; lo?: number; hi?: number } | null;
  order: { first: number; cards: number } | null;
  dealt: { purpose: string; recipient?: string; public: boolean; round: number }[]; // by place, shown here or not; round 0: none
  tape: "secret" | "public" | "sealed";
}
