// A model that stands in for real ones, on this machine: Anthropic Messages, OpenAI Responses, Gemini generateContent.
//   node fake_model.mjs [port=0] [log=-]      prints "listening <port>"
// The scenario is the first part of the path, http://127.0.0.1:PORT/s/<scenario>/..., so one server serves many runs at once.
// It keeps no state: whether a turn is the first one is read from the conversation in the request.
//   ok        calls the MCP tool send_message, then answers with a final text
//   text      answers with a final text at once
//   toolfail  like ok, to a recipient who does not exist
//   loop      calls the tool in every turn (for turn limits)
//   big       a final text of about 190 KB
//   slow      begins a stream, then only keeps it alive (for SIGTERM and time limits)
//   hang      never answers the request at all
//   cut       begins a stream and closes the socket
//   until<ms>  error 529 that names this moment, and like ok from then on
//   e401 e403 e429 e500 e529 …   that HTTP status, in the shape of the provider's error
import { createServer } from 'node:http';
import { appendFileSync } from 'node:fs';
import { createHash } from 'node:crypto';

const port = Number(process.argv[2] || 0);
const log = process.argv[3] || '';
const USAGE = { first: { in: 1200, out: 34, cached: 800, write: 100 }, last: { in: 1500, out: 21, cached: 1100, write: 0 } };
const FINAL = 'Done: I wrote to admin.';
const TOOL = 'send_message';
const ERRORS = {
  401: ['authentication_error', 'invalid x-api-key'], 403: ['permission_error', 'not allowed'], 429: ['rate_limit_error', 'slow down'],
  400: ['invalid_request_error', 'prompt is too long'], 500: ['api_error', 'internal server error'], 529: ['overloaded_error', 'Overloaded'],
};
let n = 0;
const id = (p) => `${p}_fake${String(++n).padStart(6, '0')}`;
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

function args(scenario, who) {
  return { to: scenario === 'toolfail' ? 'nobody-here' : 'admin', body: `hello from ${who}` };
}

function note(entry) {
  if (log) appendFileSync(log, JSON.stringify(entry) + '\n');
}

function sse(res, events, named) {
  if (!res.headersSent) res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'request-id': id('req') });
  for (const e of events) res.write((named ? `event: ${e.type}\n` : '') + `data: ${JSON.stringify(e)}\n\n`);
}

const json = (res, status, body, headers = {}) => {
  const text = JSON.stringify(body);
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers });
  res.end(text);
};

// What a turn shall be: 'tool' or 'text', given whether the last thing in the conversation is a tool's result.
function turn(scenario, tool, answered) {
  if (scenario === 'loop') return tool ? 'tool' : 'text';
  if ((scenario === 'ok' || scenario === 'toolfail') && tool && !answered) return 'tool';
  return 'text';
}
const finalText = (scenario) => (scenario === 'big' ? Array.from({ length: 20000 }, (_, i) => `word${i}`).join(' ') : FINAL); // varied: clients look for loops

// --- Anthropic Messages -------------------------------------------------------------------------------------------
async function anthropic(scenario, body, res) {
  const last = body.messages?.at(-1);
  const parts = Array.isArray(last?.content) ? last.content : [];
  const deferred = body.tools?.some((t) => t.name === 'ToolSearch') && new RegExp(`mcp__\\w+?__${TOOL}\\b`).exec(JSON.stringify(body.messages))?.[0];
  const listed = body.tools?.find((t) => t.name?.endsWith(`_${TOOL}`) && !t.defer_loading)?.name;
  const found = parts.some((p) => JSON.stringify(p).includes('"tool_reference"'));
  const answered = !found && parts.some((p) => p.type === 'tool_result');
  const search = !listed && deferred && !found && !answered; // the tool's schema is not loaded yet: a model asks for it first
  const tool = listed ?? deferred;
  const kind = turn(scenario, tool, answered);
  const u = answered ? USAGE.last : USAGE.first;
  const usage = { input_tokens: u.in - u.cached - u.write, cache_creation_input_tokens: u.write, cache_read_input_tokens: u.cached, output_tokens: 1, service_tier: 'standard' };
  const message = { id: id('msg'), type: 'message', role: 'assistant', model: body.model, content: [], stop_reason: null, stop_sequence: null, usage };
  const block = kind === 'tool'
    ? { type: 'tool_use', id: id('toolu'), ...(search ? { name: 'ToolSearch', input: { query: `select:${tool}` } } : { name: tool, input: args(scenario, 'claude') }) }
    : { type: 'text', text: finalText(scenario) };
  const stop = kind === 'tool' ? 'tool_use' : 'end_turn';
  if (!body.stream) return json(res, 200, { ...message, content: [block], stop_reason: stop, usage: { ...usage, output_tokens: u.out } });
  sse(res, [{ type: 'message_start', message }], true);
  if (scenario === 'cut') return res.destroy();
  while (scenario === 'slow' && !res.destroyed) { sse(res, [{ type: 'ping' }], true); await sleep(1000); }
  const start = kind === 'tool' ? { ...block, input: {} } : { type: 'text', text: '' };
  const delta = kind === 'tool' ? { type: 'input_json_delta', partial_json: JSON.stringify(block.input) } : { type: 'text_delta', text: block.text };
  sse(res, [
    { type: 'content_block_start', index: 0, content_block: start },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: u.out } },
    { type: 'message_stop' },
  ], true);
  res.end();
}

// --- OpenAI Responses ---------------------------------------------------------------------------------------------
function openaiTool(tools = []) {
  for (const t of tools) {
    if (t.type === 'function' && t.name?.endsWith(TOOL) && !t.name.includes('channel')) return { name: t.name };
    if (t.type === 'namespace') for (const inner of t.tools ?? []) if (inner.name?.endsWith(TOOL)) return { name: inner.name, namespace: t.name };
  }
}
async function openai(scenario, body, res) {
  const input = Array.isArray(body.input) ? body.input : [];
  const answered = input.at(-1)?.type === 'function_call_output';
  const searched = input.filter((i) => i.type === 'tool_search_output');
  const tool = openaiTool([...(body.tools ?? []), ...searched.flatMap((i) => i.tools ?? [])]);
  const search = !tool && !searched.length && body.tools?.some((t) => t.type === 'tool_search'); // MCP tools are found by a search first
  const kind = turn(scenario, tool ?? search, answered);
  const u = answered ? USAGE.last : USAGE.first;
  const usage = { input_tokens: u.in, input_tokens_details: { cached_tokens: u.cached }, output_tokens: u.out, output_tokens_details: { reasoning_tokens: 5 }, total_tokens: u.in + u.out };
  const item = kind === 'tool' && search
    ? { type: 'tool_search_call', id: id('ts'), call_id: id('call'), execution: 'client', status: 'completed', arguments: { query: 'send_message direct message', limit: 8 } }
    : kind === 'tool'
    ? { type: 'function_call', id: id('fc'), call_id: id('call'), ...tool, arguments: JSON.stringify(args(scenario, 'codex')), status: 'completed' }
    : { type: 'message', id: id('msg'), role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: finalText(scenario), annotations: [] }] };
  const response = { id: id('resp'), object: 'response', created_at: Math.floor(Date.now() / 1000), model: body.model, status: 'in_progress', output: [] };
  if (!body.stream) return json(res, 200, { ...response, status: 'completed', output: [item], usage });
  sse(res, [{ type: 'response.created', response }], true);
  if (scenario === 'cut') return res.destroy();
  while (scenario === 'slow' && !res.destroyed) { res.write(': keep-alive\n\n'); await sleep(1000); }
  sse(res, [
    { type: 'response.output_item.added', output_index: 0, item: search && kind === 'tool' ? item : kind === 'tool' ? { ...item, arguments: '' } : { ...item, content: [] } },
    ...(kind === 'tool' ? [] : [{ type: 'response.output_text.delta', item_id: item.id, output_index: 0, content_index: 0, delta: item.content[0].text }]),
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...response, status: 'completed', output: [item], usage } },
  ], true);
  res.end();
}

// --- Gemini -------------------------------------------------------------------------------------------------------
async function gemini(scenario, model, stream, body, res) {
  const last = body.contents?.at(-1);
  const answered = (last?.parts ?? []).some((p) => p.functionResponse);
  const tool = (body.tools ?? []).flatMap((t) => t.functionDeclarations ?? []).find((f) => /^mcp_.*[^l]_+send_message$/.test(f.name) || f.name === TOOL)?.name;
  const schema = body.generationConfig?.responseJsonSchema ?? body.generationConfig?.responseSchema;
  const kind = turn(scenario, tool, answered);
  const u = answered ? USAGE.last : USAGE.first;
  const part = kind === 'tool' ? { functionCall: { name: tool, args: args(scenario, 'gemini') } } : { text: schema ? JSON.stringify({ complexity_reasoning: 'simple', complexity_score: 10 }) : finalText(scenario) };
  const chunk = {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: u.in, candidatesTokenCount: u.out, cachedContentTokenCount: u.cached, thoughtsTokenCount: 5, totalTokenCount: u.in + u.out + 5 },
    modelVersion: model, responseId: id('resp'),
  };
  if (!stream) return json(res, 200, chunk);
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  if (scenario === 'cut') { sse(res, [{ candidates: [{ content: { role: 'model', parts: [{ text: 'Do' }] }, index: 0 }] }]); return res.destroy(); }
  while (scenario === 'slow' && !res.destroyed) { sse(res, [{ candidates: [{ content: { role: 'model', parts: [{ text: '.' }] }, index: 0 }] }]); await sleep(1000); }
  sse(res, [chunk]);
  res.end();
}

const errorBody = (api, status, said) => {
  const [type, usual] = ERRORS[status] ?? ['api_error', 'error'];
  const message = said ?? usual;
  if (api === 'anthropic') return { type: 'error', error: { type, message }, request_id: id('req') };
  if (api === 'openai') return { error: { message, type, param: null, code: type } };
  return { error: { code: status, message, status: { 401: 'UNAUTHENTICATED', 403: 'PERMISSION_DENIED', 429: 'RESOURCE_EXHAUSTED', 500: 'INTERNAL', 529: 'UNAVAILABLE' }[status] ?? 'UNKNOWN' } };
};

const server = createServer(async (req, res) => {
  const at = Date.now();
  const chunks = [];
  for await (const c of req) chunks.push(c);
  const raw = Buffer.concat(chunks);
  let body = {};
  try { body = raw.length ? JSON.parse(raw) : {}; } catch { body = {}; }
  const m = /^\/s\/([^/]+)(\/.*)$/.exec(req.url);
  let scenario = m?.[1] ?? 'text';
  const path = (m?.[2] ?? req.url).replace(/\/\/+/g, '/');
  const g = /\/models\/([^:]+):(\w+)/.exec(path);
  const api = g ? 'gemini' : /\/v1\/messages/.test(path) ? 'anthropic' : /\/responses/.test(path) ? 'openai' : 'none';
  note({ at, method: req.method, url: req.url, bytes: raw.length, sha: createHash('sha256').update(raw).digest('hex').slice(0, 8), headers: req.headers, body });
  res.on('finish', () => note({ at: Date.now(), url: req.url, status: res.statusCode }));
  if (scenario === 'hang') return;
  const until = /^until(\d+)$/.exec(scenario);
  if (until && api !== 'none') {
    if (Date.now() < Number(until[1])) return json(res, 529, errorBody(api, 529, `Overloaded until ${new Date(Number(until[1])).toISOString()}`));
    scenario = 'ok';
  }
  const e = /^e(\d{3})$/.exec(scenario);
  if (e && api !== 'none') return json(res, Number(e[1]), errorBody(api, Number(e[1])));
  if (api === 'anthropic') return path.includes('count_tokens') ? json(res, 200, { input_tokens: 1200 }) : anthropic(scenario, body, res);
  if (api === 'openai') return openai(scenario, body, res);
  if (api === 'gemini') return g[2] === 'countTokens' ? json(res, 200, { totalTokens: 1200 }) : gemini(scenario, g[1], g[2] === 'streamGenerateContent', body, res);
  if (path.includes('/models')) return json(res, 200, { object: 'list', data: [], models: [] });
  json(res, 404, { error: { message: `nothing at ${path}` } });
});
server.listen(port, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
