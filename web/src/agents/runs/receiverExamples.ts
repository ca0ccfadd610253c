/** What the hub sends, shortened: docs/runs.md has all fields. */
export const REQUEST = `POST /run HTTP/1.1
Content-Type: application/json
webhook-id: run_7_1
webhook-timestamp: 1800000000
webhook-signature: v1,…

{"id": "run_7_1", "type": "run.requested", "agent": "courier",
 "data": {"run_id": 7, "prompt": "…", "instructions": "…",
          "messages": [], "thread": [],
          "token": "stoa_run_…", "mcp_url": "…/mcp",
          "result_url": "…/api/runs/7/result"}}`;

export const ANSWER_NOW = `HTTP/1.1 200 OK
Content-Type: application/json

{"response": "Done. The report is in **#ops**."}`;

export const ANSWER_LATER = `HTTP/1.1 202 Accepted

# Later, with the values from the request:
curl "$RESULT_URL" -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"response": "Done. The report is in **#ops**."}'`;
