import { useQuery } from "@tanstack/react-query";

import { type KnownProgram, programsQuery } from "../../api/programs";
import type { Program } from "./programs";

/** While something is missing, somebody may be installing it or setting its key. */
const LOOKS_AGAIN_MS = 6000;

const isMissing = ({ found, keys_found }: KnownProgram) => found === false || keys_found.length === 0;

/** What the hub says about what it can start. It is asked again while the chosen one is not complete. */
export function usePrograms(agent: string, chosen: Program | null) {
  const query = useQuery({
    ...programsQuery(agent),
    refetchInterval: ({ state }) => {
      const one = state.data?.items.find(({ adapter }) => adapter === chosen);
      return state.status !== "error" && one && isMissing(one) ? LOOKS_AGAIN_MS : false;
    },
  });
  return {
    list: query.data,
    error: query.error,
    retry: () => void query.refetch(),
    find: (program: Program) => query.data?.items.find(({ adapter }) => adapter === program),
  };
}

export type Programs = ReturnType<typeof usePrograms>;
