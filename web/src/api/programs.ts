import { queryOptions } from "@tanstack/react-query";

import { api, ok } from "./client";
import type { components, operations } from "./schema";

export type KnownProgram = components["schemas"]["ProgramView"];
export type ProgramList = components["schemas"]["ProgramList"];

/** Settings that change how something is started. */
export type CommandSettings = Omit<NonNullable<operations["list_programs"]["parameters"]["query"]>, "agent">;

/** What the hub knows how to start for an agent of the person, whether it is installed, and whether its key is set. */
export const programsQuery = (agent: string) =>
  queryOptions({
    queryKey: ["known-commands", agent],
    queryFn: () => ok(api.GET("/api/programs", { params: { query: { agent } } })),
  });

/** The same with the command that these settings give. */
export const commandQuery = (agent: string, settings: CommandSettings) =>
  queryOptions({
    queryKey: ["known-commands", agent, "command", settings],
    queryFn: () => ok(api.GET("/api/programs", { params: { query: { agent, ...settings } } })),
    placeholderData: (before) => before,
  });
