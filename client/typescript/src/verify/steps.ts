// The steps of 10.1.
import { starts } from "./bytes.ts";
import { stepDeck, stepOpenings, stepTerms } from "./cardsteps.ts";
import { stepEntries, stepFormat } from "./entrysteps.ts";
import { stepBeacon, stepInclusion, stepOrigin, stepSignature, stepSlots, stepWitnesses } from "./ledgersteps.ts";
import { stepLegality } from "./legality.ts";
import { stepCards, stepOrder, stepStatements, stepTape } from "./tapesteps.ts";

export const STEPS = {
  format: [stepFormat, "the file was damaged or edited, or is something else"],
  entries: [stepEntries, "an entry was exchanged or damaged, or a receipt is missing"],
  signature: [stepSignature, "the wrong key, or a file that is not this ledger's"],
  inclusion: [stepInclusion, "an entry or a proof was altered"],
  witnesses: [stepWitnesses, "too few witnesses, or another policy"],
  origin: [stepOrigin, "another ledger, or a sandbox passed off as production"],
  slots: [stepSlots, "the house left the slot out of the plan, or the file is of another shuffle"],
  legality: [stepLegality, "the operator broke the lifecycle, or a receipt is missing"],
  beacon: [stepBeacon, "the house put in another value than the beacon's"],
  deck: [stepDeck, "another deck"],
  terms: [stepTerms, "other terms than those committed to"],
  openings: [stepOpenings, "a card was altered"],
  tape: [stepTape, "the tape is not the one committed to"],
  order: [stepOrder, "the cards were shuffled by another rule"],
  cards: [stepCards, "a card was altered"],
  statements: [stepStatements, "a statement about another shuffle, or one that the auditor did not sign"],
};

// stepsOf names the steps that a file runs, by how it begins.
export function stepsOf(input) {
  const begins = (word) => typeof input === "string" ? input.startsWith(word) : starts(input, word);
  const all = Object.keys(STEPS);
  return begins("{") ? all : begins("c2sp.org/tlog-proof@") ? all.slice(0, all.indexOf("legality")) : ["format"];
}
