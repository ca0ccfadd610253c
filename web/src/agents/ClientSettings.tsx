import { useQuery } from "@tanstack/react-query";
import { FileText, KeyRound, SquareTerminal } from "lucide-react";
import { type ReactNode, useState } from "react";

import { api, ok } from "../api/client";
import { useStore } from "../lib/store";
import { Choice } from "../ui/Choice";
import { CopyField } from "../ui/CopyField";
import { Failed } from "../ui/States";
import { Unattended } from "./UnattendedPart";
import { type Auth, CLIENTS, type ClientName, addressOf, commandOf, shortened, textOf, withKey } from "./clients";
import { freshKeys } from "./freshKeys";

/** What to write into a client so that it acts as the agent. `noKey` is said where the key is not known on this page. */
export function ClientSettings({ name, noKey }: { name: string; noKey: ReactNode }) {
  const [client, setClient] = useState<ClientName>("claude-code");
  const [wanted, setAuth] = useState<Auth>("key");
  const key = useStore(freshKeys, (keys) => keys[name]) ?? null;
  const kind = CLIENTS.find((one) => one.name === client)!;
  const auth = kind.login === null ? "key" : wanted;
  const settings = useQuery({
    queryKey: ["mcp-config", name, client, auth],
    queryFn: () => ok(api.GET("/api/agents/{name}/mcp-config", { params: { path: { name }, query: { client, auth } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const plain = settings.data === undefined ? "" : textOf(settings.data);
  const withIt = auth === "key" && key !== null && settings.data !== undefined ? withKey(settings.data, key) : null;
  const text = withIt ?? plain;
  const address = addressOf(settings.data);
  const command = address === null ? null : commandOf(client, address, auth, withIt === null ? null : key);
  const shown = (full: string) => (withIt === null || key === null ? full : full.replaceAll(key, shortened(key)));
  const file = (
    <CopyField
      title={
        <span className="flex items-center gap-2">
          <FileText size={14} aria-hidden="true" /> {kind.file}
        </span>
      }
      text={text}
      shown={shown(text)}
    />
  );
  return (
    <div className="flex min-w-0 flex-col gap-5">
      <Choice
        label="Client"
        value={client}
        onChange={setClient}
        options={CLIENTS.map(({ name: value, label }) => ({ value, label }))}
        hint={kind.about ?? "The client that will run this agent."}
      />
      {kind.login === null ? null : (
        <Choice
          label="How the client proves who it is"
          value={auth}
          onChange={setAuth}
          options={[
            { value: "key", label: "Key" },
            { value: "oauth", label: "Log in" },
          ]}
          hint={
            auth === "oauth"
              ? `The client opens a page where you log in and choose @${name} (OAuth).`
              : "Simplest. Use this for unattended clients too."
          }
        />
      )}
      {settings.isError ? <Failed error={settings.error} retry={() => void settings.refetch()} /> : null}
      {settings.isLoading ? <p className="text-muted">Loading…</p> : null}
      {settings.data === undefined ? null : (
        <>
          {command ? (
            <div className="flex flex-col gap-2">
              <p>Run this once in the folder where you use {kind.label}:</p>
              <CopyField
                title={
                  <span className="flex items-center gap-2">
                    <SquareTerminal size={14} aria-hidden="true" /> Terminal
                  </span>
                }
                text={command}
                shown={shown(command)}
              />
            </div>
          ) : null}
          {command ? (
            <details>
              <summary className="cursor-pointer py-1 text-accent pointer-coarse:py-3">
                Use a settings file instead
              </summary>
              <div className="mt-2">{file}</div>
            </details>
          ) : (
            <div className="flex flex-col gap-2">
              <p>Add this to the client's settings file, keeping what is already there.</p>
              {file}
            </div>
          )}
          {auth === "oauth" ? <p>{kind.login}</p> : null}
          {auth === "key" ? (
            <p className="flex items-start gap-2 text-sm text-amber">
              <KeyRound size={14} aria-hidden="true" className="mt-0.5 shrink-0" />
              {withIt === null ? (
                <span>{noKey}</span>
              ) : (
                <span>
                  “Copy” includes the full key. Stoa shows it only until you reload or close this tab; later you can create a new one.
                </span>
              )}
            </p>
          ) : null}
          <Unattended client={client} usesKey={auth === "key"} />
          {client === "stdio" ? (
            <p className="text-sm text-muted">The client starts the “stoa” command, so install it on the client's machine.</p>
          ) : null}
        </>
      )}
    </div>
  );
}
