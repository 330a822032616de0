// The steps of 10.1.
import { starts } from "./bytes.ts";
import { stepAsked, stepCoDealer } from "./blindsteps.ts";
import { stepDeck, stepOpenings, stepTerms } from "./cardsteps.ts";
import { stepEntries, stepFormat } from "./entrysteps.ts";
import { stepBeacon, stepInclusion, stepOrigin, stepSignature, stepSlots, stepWitnesses } from "./ledgersteps.ts";
import { stepLegality } from "./legality.ts";
import { stepCards, stepOrder, stepStatements, stepTape } from "./tapesteps.ts";
import type { Step } from "./step.ts";

export const STEPS: Record<string, Step> = {
  format: { run: stepFormat, cause: "the file was damaged or edited, or is something else" },
  entries: { run: stepEntries, cause: "an entry was exchanged or damaged, or a receipt is missing" },
  signature: { run: stepSignature, cause: "the wrong key, or a file that is not this ledger's" },
  inclusion: { run: stepInclusion, cause: "an entry or a proof was altered" },
  witnesses: { run: stepWitnesses, cause: "too few witnesses, or another policy" },
  origin: { run: stepOrigin, cause: "another ledger, or a sandbox passed off as production" },
  slots: { run: stepSlots, cause: "the house left the slot out of the plan, or the file is of another shuffle" },
  legality: { run: stepLegality, cause: "the operator broke the lifecycle, or a receipt is missing" },
  beacon: { run: stepBeacon, cause: "the house put in another value than the beacon's" },
  deck: { run: stepDeck, cause: "another deck" },
  terms: { run: stepTerms, cause: "other terms than those committed to" },
  openings: { run: stepOpenings, cause: "a card was altered" },
  asked: { run: stepAsked, cause: "the house or the co-dealer dealt what was not asked for" },
  tape: { run: stepTape, cause: "the tape is not the one committed to" },
  order: { run: stepOrder, cause: "the cards were shuffled by another rule" },
  cards: { run: stepCards, cause: "a card was altered" },
  co_dealer: { run: stepCoDealer, cause: "the co-dealer's evidence is another ledger's, or its witnesses did not see it" },
  statements: { run: stepStatements, cause: "a statement about another shuffle, or one that the auditor did not sign" },
};

// stepsOf gives the names of a file's steps. The first bytes say what the file is (10).
export function stepsOf(input: string | Uint8Array): string[] {
  const begins = (word: string) => typeof input === "string" ? input.startsWith(word) : starts(input, word);
  const all = Object.keys(STEPS);
  return begins("{") ? all : begins("c2sp.org/tlog-proof@") ? all.slice(0, all.indexOf("legality")) : ["format"];
}
