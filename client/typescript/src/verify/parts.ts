// The parts of the verifier that the vectors of SPEC test one by one. The page's script exports them.
import { signedRound } from "./beacon.ts";
import { blob16, join, label, str8, u32 } from "./bytes.ts";
import { Canonical } from "./canonical.ts";
import { readCheckpoint } from "./checkpoint.ts";
import { CODES } from "./codes.ts";
import { parseContext } from "./commit.ts";
import { ed25519, strongKey } from "./curves.ts";
import { draw, numbers, ranges, recompute, shuffle, tapeLength } from "./draws.ts";
import { parseEntry } from "./entries.ts";
import { Fault, Malformed, Unknown } from "./errors.ts";
import { readVerifierKey } from "./keys.ts";
import { signed } from "./ledgersteps.ts";
import { stepLegality } from "./legality.ts";
import { mixSeed, mixedPlaces, shifts, slotHash } from "./mix.ts";
import { commitment, deckRoot, leafHash, leafTag, opens, salts } from "./openings.ts";
import { readPolicy } from "./policy.ts";
import { sha256 } from "./sha256.ts";
import { readStatement } from "./statement.ts";
import { badCardName, deckHash, readTerms, termsHash } from "./terms.ts";
import { readTicket, ticketLeaf } from "./tickets.ts";
import { readForm } from "./transcript.ts";
import { climb, leafOf, nodeOf, rootOf } from "./tree.ts";

export const parts = { CODES, Malformed, Unknown, Fault, Canonical, leafOf, nodeOf, climb, rootOf, parseEntry, stepLegality, ranges, tapeLength, draw, shuffle, numbers, recompute, parseContext,
  badCardName, deckHash, termsHash, readTerms, readTicket, ticketLeaf, commitment, salts, leafTag, leafHash, deckRoot, opens, slotHash, mixSeed, mixedPlaces, shifts,
  strongKey, readPolicy, readVerifierKey, readForm, readCheckpoint, readStatement, signed, signedRound, ed25519, label, sha256, join, str8, blob16, u32 };
