import { store } from "../lib/store";

/** The channel in which the person has chosen, outside the message field, to propose work. The message field there turns to a proposal. */
export const wantedProposal = store<string | null>(null);
