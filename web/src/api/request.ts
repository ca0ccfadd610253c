import type { Client } from "openapi-fetch";

import { fetchOrTake } from "./ahead";
import type { paths } from "./schema";
import { hasSessionEnded } from "./session";
import { person } from "../lib/person";

interface RequestOptions {
  params?: { path?: Record<string, unknown>; query?: Record<string, unknown>; header?: Record<string, unknown> };
  headers?: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal;
}

/** The address of a call: `/api/channels/{name}` with the values for its parts and its query. */
export function addressOf(path: string, { path: parts = {}, query = {} }: NonNullable<RequestOptions["params"]> = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const));
  const search = new URLSearchParams(pairs.filter(([, value]) => value !== undefined && value !== null).map(([name, value]) => [name, String(value)]));
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(String(parts[name])));
  return search.size > 0 ? `${filled}?${search}` : filled;
}

/** A session may have been renewed while a request was on its way, so that the hub refuses the old cookie. */
async function renewed(request: Request, response: Response): Promise<Response> {
  if (response.status !== 401 || request.url.endsWith("/auth/password") || (await hasSessionEnded())) return response;
  if (request.method === "GET") return fetch(request);
  return Response.json({ code: "session_renewed", detail: "Your session was just renewed.", hint: "Please retry." }, { status: 503 });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function send(method: string, path: string, { params, headers, body, signal }: RequestOptions = {}) {
  const request = new Request(location.origin + addressOf(path, params), {
    method,
    signal,
    body: body === undefined || body instanceof FormData ? body : JSON.stringify(body),
    headers: {
      ...(body === undefined || body instanceof FormData ? {} : { "Content-Type": "application/json" }),
      // Another tab may have logged in as somebody else. What this one writes is then refused, and not said under another name.
      ...(method === "GET" || !person.get() ? {} : { "Stoa-User": person.get() }),
      ...headers,
      ...(params?.header as Record<string, string> | undefined),
    },
  });
  const response = await renewed(request, await fetchOrTake(request));
  const text = await response.text();
  if (!response.ok) return { error: parsed(text), response };
  return { data: text ? (JSON.parse(text) as unknown) : undefined, response };
}

const call = (method: string) => (path: string, options?: RequestOptions) => send(method, path, options);

/** Calls of the hub, with the types of its description. `openapi-fetch` has the types; what it does is more than the page needs. */
export const api = {
  GET: call("GET"),
  PUT: call("PUT"),
  POST: call("POST"),
  DELETE: call("DELETE"),
  PATCH: call("PATCH"),
} as unknown as Pick<Client<paths>, "GET" | "PUT" | "POST" | "DELETE" | "PATCH">;
