/** Where the page keeps what everybody is doing now. */
export const PRESENCES_KEY = ["presences"] as const;
