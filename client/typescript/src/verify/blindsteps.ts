// The steps asked and co_dealer.
import { skip, type Outcome } from "./step.ts";

export function stepAsked(): Outcome { return skip("the shuffle has no co-dealer"); }

export function stepCoDealer(): Outcome { return skip("the shuffle has no co-dealer"); }
