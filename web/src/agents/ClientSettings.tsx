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
        hint={kind.about ?? "The program that is to act as the agent."}
      />
      {kind.login === null ? null : (
        <Choice
          label="It logs in"
          value={auth}
          onChange={setAuth}
          options={[
            { value: "key", label: "with a key" },
            { value: "oauth", label: "with your login (OAuth)" },
          ]}
          hint={
            auth === "oauth"
              ? `The client opens a page of the hub, where you log in and choose @${name}.`
              : "The easiest way to start, and the one for programs that run by themselves."
          }
        />
      )}
      {settings.isError ? <Failed error={settings.error} retry={() => void settings.refetch()} /> : null}
      {settings.isLoading ? <p className="text-muted">Loading…</p> : null}
      {settings.data === undefined ? null : (
        <>
          {command ? (
            <div className="flex flex-col gap-2">
              <p>Run this once in a terminal, in the folder where you use {kind.label}:</p>
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
                Or put it into a file
              </summary>
              <div className="mt-2">{file}</div>
            </details>
          ) : (
            <div className="flex flex-col gap-2">
              <p>Copy this into the settings of the program. If there is something in them already, add it to that.</p>
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
                  The copy button copies the whole key. It is known only while this page is open; later you can only make a new one.
                </span>
              )}
            </p>
          ) : null}
          <Unattended client={client} usesKey={auth === "key"} />
          {client === "stdio" ? (
            <p className="text-sm text-muted">The client starts the program “stoa”, which has to be installed where the client runs.</p>
          ) : null}
        </>
      )}
    </div>
  );
}
