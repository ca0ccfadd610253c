import { type Problem, problemOf, unreachable } from "./problem";
import { leaving } from "./tabs";

export { api } from "./request";

/** Goes to the login, which leads back to this place. Drafts are kept by the browser. */
export function logIn(): void {
  const here = location.pathname + location.search + location.hash;
  location.assign(`/login?next=${encodeURIComponent(here)}`);
}

/** What the hub answered, or its refusal as an error. Who is logged out is led to the login. */
export async function ok<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  let answer;
  try {
    answer = await call;
  } catch {
    throw unreachable();
  }
  if (answer.response.ok) return answer.data as T;
  const problem: Problem = problemOf(answer.response.status, answer.error);
  if (problem.status === 401 && !leaving.isNow) {
    leaving.isNow = true;
    logIn();
  }
  throw problem;
}

/** A key by which the hub knows a repetition of the same request. */
export function repeatKey(): string {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
