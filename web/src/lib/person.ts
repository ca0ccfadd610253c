import { store } from "./store";

/** Whose page this is, once it is known. What the browser keeps of somebody is kept under their name, for who logs in next may be somebody else. */
export const person = store("");
