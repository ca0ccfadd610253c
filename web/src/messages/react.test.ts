import { QueryClient } from "@tanstack/react-query";
import { afterAll, beforeEach, expect, test, vi } from "vitest";

import type { Channel, Me, Message } from "../api/types";

const calls = vi.hoisted(() => ({ GET: vi.fn(), POST: vi.fn(), DELETE: vi.fn() }));
const toasts = vi.hoisted(() => vi.fn());
vi.mock("../api/client", () => ({ api: calls, ok: (call: Promise<unknown>) => call, repeatKey: () => "key" }));
vi.mock("../ui/Toasts", () => ({ toast: toasts }));

// Another file may have loaded them already, without what stands in here.
vi.resetModules();
const { Problem } = await import("../api/problem");
const { channelsQuery, meQuery, messageQuery } = await import("../api/queries");
const { setReaction, toggle } = await import("./react");

// And the next file is to have them without.
afterAll(() => void vi.resetModules());

const AT = "2026-11-14T09:00:00.000Z";
const by = (name: string, reaction: string) => ({
  reaction,
  from: { kind: "user", name, display_name: name },
  metadata: {},
  created_at: AT,
});
const message = (reactions: object[] = [], workflow_state = "proposed") =>
  ({ id: 1, body: "x", attachments: [], metadata: { action_type: "publish" }, reactions, workflow_state }) as unknown as Message;

const READ = { id: 1, edited_at: null };

let client: QueryClient;
const shown = () => client.getQueryData<Message>(messageQuery(1).queryKey)!;

beforeEach(() => {
  vi.resetAllMocks();
  client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  client.setQueryData(meQuery.queryKey, { user: { username: "ada", display_name: "Ada" }, agents: [] } as unknown as Me);
  client.setQueryData(messageQuery(1).queryKey, message());
});

test("a reaction is there at once, and what the hub says counts", async () => {
  const answer = { action: "added", reactions: [by("bob", "approve"), by("ada", "approve")], workflow_state: "approved" };
  calls.POST.mockResolvedValueOnce(answer);
  const done = setReaction(client, READ, "approve", true);
  expect(shown()).toMatchObject({ workflow_state: "approved", reactions: [{ from: { name: "ada" } }] });
  await done;
  expect(shown().reactions).toHaveLength(2);
  expect(toasts).toHaveBeenCalledWith("Approved: x", { undo: expect.any(Function) });
});

test("a refusal is told in the hub's words, and who was first is shown", async () => {
  calls.POST.mockRejectedValueOnce(new Problem(409, "already_claimed", "bob has claimed this message."));
  calls.GET.mockResolvedValueOnce(message([by("bob", "in_progress")], "in_progress"));
  await setReaction(client, READ, "in_progress", true);
  expect(shown().reactions).toMatchObject([{ from: { name: "bob" } }]);
  expect(toasts).toHaveBeenCalledWith("bob has claimed this message.", { isError: true });
});

test("the hub learns which text was read, and another one is shown instead of reacted to", async () => {
  const read = { ...message(), edited_at: AT };
  client.setQueryData(messageQuery(1).queryKey, read);
  calls.POST.mockRejectedValueOnce(new Problem(409, "edited_meanwhile", "The message was edited since you read it.", "Read it again and decide."));
  calls.GET.mockResolvedValueOnce({ ...message(), body: "y", edited_at: "2026-11-14T09:01:00.000Z" });
  await toggle(client, read, "approve");
  expect(calls.POST.mock.calls[0]![1]).toMatchObject({ body: { reaction: "approve", edited_at: AT } });
  expect(shown()).toMatchObject({ body: "y", reactions: [], workflow_state: "proposed" });
  expect(toasts).toHaveBeenCalledWith("This message was edited while you were reading it. Review it again.", { isError: true });
});

test("a text that was never edited is named as such, also when an undo says it again", async () => {
  client.setQueryData(messageQuery(1).queryKey, message([by("ada", "approve")], "approved"));
  calls.DELETE.mockResolvedValueOnce({ action: "removed", reactions: [], workflow_state: "proposed" });
  await toggle(client, shown(), "approve");
  calls.POST.mockResolvedValueOnce({ action: "added", reactions: [by("ada", "approve")], workflow_state: "approved" });
  toasts.mock.calls[0]![1].undo();
  await vi.waitFor(() => expect(calls.POST).toHaveBeenCalledOnce());
  expect(calls.POST.mock.calls[0]![1].body).toEqual({ reaction: "approve", edited_at: null });
});

test("a guest is not let to finish what somebody else has claimed, and can take back what they said", async () => {
  const claimed = { ...message([by("bob", "in_progress"), by("ada", "done")], "done"), channel: "open" };
  client.setQueryData(channelsQuery.queryKey, [{ name: "open", owner: "bob", is_member: false }] as Channel[]);
  await toggle(client, claimed, "published");
  expect(calls.POST).not.toHaveBeenCalled();
  expect(toasts).toHaveBeenCalledWith("@bob claimed this. Only they or a member of #open can mark it published.", { isError: true });
  calls.DELETE.mockResolvedValueOnce({ action: "removed", reactions: [], workflow_state: "in_progress" });
  await toggle(client, claimed, "done");
  expect(calls.DELETE).toHaveBeenCalledOnce();
});

test("without the hub it is as it was", async () => {
  calls.POST.mockRejectedValueOnce(new Problem(0, "unreachable", "Can't reach the server."));
  calls.GET.mockRejectedValueOnce(new Problem(0, "unreachable", "Can't reach the server."));
  await setReaction(client, READ, "approve", true);
  expect(shown()).toMatchObject({ workflow_state: "proposed", reactions: [] });
});

test("what was there already is not taken back by adding it", async () => {
  calls.POST.mockResolvedValueOnce({ action: "removed", reactions: [], workflow_state: "proposed" });
  calls.POST.mockResolvedValueOnce({ action: "added", reactions: [by("ada", "approve")], workflow_state: "approved" });
  await setReaction(client, READ, "approve", true);
  expect(shown().workflow_state).toBe("approved");
});

test("of quick clicks each waits for the one before, and the last one is shown", async () => {
  let answerFirst: (answer: object) => void = () => undefined;
  calls.POST.mockReturnValueOnce(new Promise((resolve) => (answerFirst = resolve)));
  calls.DELETE.mockResolvedValueOnce({ action: "removed", reactions: [], workflow_state: "proposed" });
  const first = setReaction(client, READ, "approve", true);
  const second = setReaction(client, READ, "approve", false);
  await Promise.resolve();
  expect(calls.DELETE).not.toHaveBeenCalled();
  expect(shown().workflow_state).toBe("proposed");
  answerFirst({ action: "added", reactions: [by("ada", "approve")], workflow_state: "approved" });
  await first;
  expect(shown().workflow_state).toBe("proposed");
  await second;
  expect(calls.DELETE).toHaveBeenCalledOnce();
  expect(shown().workflow_state).toBe("proposed");
});

test("to take back what is gone is no error", async () => {
  client.setQueryData(messageQuery(1).queryKey, message([by("ada", "done")], "done"));
  calls.DELETE.mockRejectedValueOnce(new Problem(404, "not_found", "No such reaction."));
  calls.GET.mockResolvedValueOnce(message());
  await setReaction(client, READ, "done", false);
  expect(shown().workflow_state).toBe("proposed");
  expect(toasts).not.toHaveBeenCalledWith(expect.anything(), { isError: true });
});
