import { createContext, useContext } from "react";

import type { Me } from "../api/types";

const context = createContext<Me | undefined>(undefined);

export const MeProvider = context.Provider;

/** Who looks at the page. For what is there many times, like rows: each query of its own would cost more than the row. */
export function useMe(): Me | undefined {
  return useContext(context);
}
