// OAuth clients in JavaScript: node oauth_flow.mjs SETTINGS begin|resume
//
// Has the libraries oauth4webapi and openid-client go through all that a client does, as clients of every kind: `begin`
// until they have tokens and one more question to the person is open, `resume`, after the hub was started again, from
// there to the end. SETTINGS is a file of scripts/check-oauth.

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";
import { Person } from "./person.mjs";

const [settingsFile, phase] = process.argv.slice(2);
const settings = JSON.parse(readFileSync(settingsFile, "utf8"));
const stateFile = `${settings.folder}/javascript.json`;
const issuer = new URL(settings.url);
const resource = new URL("/mcp", issuer);
const agent = "interop-javascript";
const scope = "mcp:read mcp:write";
// The hub is on loopback, where http is all there is.
const insecure = { [oauth.allowInsecureRequests]: true };

/** Notes what neither the log nor the database may hold. */
function secret(value) {
  assert.equal(typeof value, "string");
  appendFileSync(settings.secrets, `${value}\n`);
  return value;
}

function noteTokens(tokens) {
  secret(tokens.access_token);
  if (tokens.refresh_token !== undefined) {
    secret(tokens.refresh_token);
  }
  assert.equal(tokens.token_type, "bearer");
  assert.equal(tokens.expires_in, 3600);
  assert.equal(tokens.scope, scope);
  return tokens;
}

/** A promise that the hub must break, with this error of RFC 6749. */
async function refused(promise, error, status) {
  const failure = await promise.then(
    () => assert.fail(`${error} was expected`),
    (failure) => failure,
  );
  // openid-client wraps what it does not know.
  const cause = failure.code === undefined ? failure.cause : failure;
  if (status === 401 && cause instanceof oauth.WWWAuthenticateChallengeError) {
    assert.equal(cause.status, status);
    return;
  }
  assert.ok(cause instanceof oauth.ResponseBodyError || cause instanceof oauth.AuthorizationResponseError, failure);
  assert.equal(cause.error, error);
  assert.equal(cause.status, status);
}

class Oauth4webapi {
  static library = "oauth4webapi";

  static async discover() {
    const described = await oauth
      .resourceDiscoveryRequest(resource, insecure)
      .then((answer) => oauth.processResourceDiscoveryResponse(resource, answer));
    assert.equal(described.resource, resource.href);
    assert.deepEqual(described.authorization_servers, [settings.url]);
    const [server] = described.authorization_servers;
    const found = await oauth
      .discoveryRequest(new URL(server), { algorithm: "oauth2", ...insecure })
      .then((answer) => oauth.processDiscoveryResponse(new URL(server), answer));
    // The library compares addresses, in which a last slash may come and go; others compare strings.
    assert.equal(found.issuer, server);
    return found;
  }

  static async register(metadata) {
    const server = await this.discover();
    const registered = await oauth
      .dynamicClientRegistrationRequest(server, metadata, insecure)
      .then(oauth.processDynamicClientRegistrationResponse);
    return new this(server, registered);
  }

  static async restore(client) {
    return new this(await this.discover(), client);
  }

  constructor(server, client) {
    this.server = server;
    this.client = client;
    this.authentication = {
      none: () => oauth.None(),
      client_secret_basic: () => oauth.ClientSecretBasic(client.client_secret),
      client_secret_post: () => oauth.ClientSecretPost(client.client_secret),
    }[client.token_endpoint_auth_method]();
  }

  async question() {
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const url = new URL(this.server.authorization_endpoint);
    url.search = new URLSearchParams({
      response_type: "code",
      client_id: this.client.client_id,
      redirect_uri: this.client.redirect_uris[0],
      scope,
      state,
      resource,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    return { url: url.href, state, verifier };
  }

  async exchange(answer, { state, verifier }) {
    const parameters = oauth.validateAuthResponse(this.server, this.client, answer, state);
    const [redirect] = this.client.redirect_uris;
    const options = { ...insecure, additionalParameters: { resource } };
    const response = await oauth.authorizationCodeGrantRequest(
      this.server,
      this.client,
      this.authentication,
      parameters,
      redirect,
      verifier,
      options,
    );
    return oauth.processAuthorizationCodeResponse(this.server, this.client, response);
  }

  async refresh(token) {
    const options = { ...insecure, additionalParameters: { resource } };
    const response = await oauth.refreshTokenGrantRequest(this.server, this.client, this.authentication, token, options);
    return oauth.processRefreshTokenResponse(this.server, this.client, response);
  }

  async introspect(token) {
    const response = await oauth.introspectionRequest(this.server, this.client, this.authentication, token, insecure);
    return oauth.processIntrospectionResponse(this.server, this.client, response);
  }

  async revoke(token, token_type_hint) {
    const options = { ...insecure, additionalParameters: { token_type_hint } };
    const response = await oauth.revocationRequest(this.server, this.client, this.authentication, token, options);
    await oauth.processRevocationResponse(response);
  }

  async credentials() {
    const parameters = { scope, resource };
    const response = await oauth.clientCredentialsGrantRequest(this.server, this.client, this.authentication, parameters, insecure);
    return oauth.processClientCredentialsResponse(this.server, this.client, response);
  }
}

class OpenidClient {
  static library = "openid-client";
  static options = { algorithm: "oauth2", execute: [openid.allowInsecureRequests] };
  static authentication = {
    none: openid.None,
    client_secret_basic: openid.ClientSecretBasic,
    client_secret_post: openid.ClientSecretPost,
  };

  static async register(metadata) {
    const authentication = this.authentication[metadata.token_endpoint_auth_method]();
    return new this(await openid.dynamicClientRegistration(issuer, metadata, authentication, this.options));
  }

  static async restore(client) {
    const authentication = this.authentication[client.token_endpoint_auth_method]();
    return new this(await openid.discovery(issuer, client.client_id, client, authentication, this.options));
  }

  constructor(configuration) {
    this.configuration = configuration;
    this.client = { ...configuration.clientMetadata() };
    assert.equal(configuration.serverMetadata().issuer, settings.url);
    assert.ok(configuration.serverMetadata().supportsPKCE());
  }

  async question() {
    const verifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const url = openid.buildAuthorizationUrl(this.configuration, {
      redirect_uri: this.client.redirect_uris[0],
      scope,
      state,
      resource: resource.href,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    return { url: url.href, state, verifier };
  }

  exchange(answer, { state, verifier }) {
    const checks = { expectedState: state, pkceCodeVerifier: verifier };
    return openid.authorizationCodeGrant(this.configuration, answer, checks, { resource: resource.href });
  }

  refresh(token) {
    return openid.refreshTokenGrant(this.configuration, token, { resource: resource.href });
  }

  introspect(token) {
    return openid.tokenIntrospection(this.configuration, token);
  }

  revoke(token, token_type_hint) {
    return openid.tokenRevocation(this.configuration, token, { token_type_hint });
  }

  credentials() {
    return openid.clientCredentialsGrant(this.configuration, { scope, resource: resource.href });
  }
}

const LIBRARIES = [Oauth4webapi, OpenidClient];
const REDIRECT = "http://127.0.0.1:33418/callback";
const METHODS = ["none", "client_secret_basic", "client_secret_post"];

async function register(Library, method) {
  const metadata = {
    client_name: `${Library.library} as ${method}`,
    redirect_uris: [REDIRECT, "https://client.example/callback"],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: method,
  };
  const registered = await Library.register(metadata);
  const { client } = registered;
  for (const [name, value] of Object.entries(metadata)) {
    assert.deepEqual(client[name], value, name);
  }
  assert.equal(client.client_secret === undefined, method === "none");
  if (client.client_secret !== undefined) {
    secret(client.client_secret);
    assert.equal(client.client_secret_expires_at, 0);
  }
  secret(client.registration_access_token);
  assert.equal(typeof client.client_id_issued_at, "number");
  return registered;
}

/** Answers a question. Returns what the client gets to know of it. */
async function decide(person, page, as, decision) {
  const answer = await person.submit(page, { agent: as, decision });
  assert.equal(answer.origin + answer.pathname, REDIRECT);
  return answer;
}

async function approve(client, person, page, as, question) {
  const answer = await decide(person, page, as, "approve");
  secret(answer.searchParams.get("code"));
  const tokens = noteTokens(await client.exchange(answer, question));
  assert.equal(typeof tokens.refresh_token, "string");
  return tokens;
}

async function begin() {
  const person = new Person(settings.url);
  await person.logIn(settings.username, settings.password);
  Object.values(person.cookies).forEach(secret);
  await person.call("POST", "/api/agents", { name: agent }, 201);
  const runs = [];
  for (const Library of LIBRARIES) {
    for (const method of METHODS) {
      where = `${Library.library} as ${method}`;
      const client = await register(Library, method);

      const unwanted = await client.question();
      const denied = await decide(person, await person.open(unwanted.url), "self", "deny");
      await refused(client.exchange(denied, unwanted), "access_denied");

      // As an agent and as the person in turn, so that each library does both.
      const as = method === "client_secret_basic" ? "self" : agent;
      const question = await client.question();
      const tokens = await approve(client, person, await person.open(question.url), as, question);

      // Stays unanswered until the hub has been started again.
      const later = await client.question();
      const page = await person.open(later.url);
      runs.push({ library: Library.library, client: client.client, as, tokens, later, page });
    }
  }
  writeFileSync(stateFile, JSON.stringify({ cookies: person.cookies, runs }), { mode: 0o600 });
}

/** A token that is in force, as the one says that may ask. */
function checkActive(found, client, as) {
  assert.equal(found.active, true);
  assert.equal(found.client_id, client.client_id);
  assert.equal(found.scope, scope);
  assert.equal(found.username, settings.username);
  assert.equal(found.sub, settings.username);
  assert.equal(found.agent ?? "self", as);
  assert.equal(found.iss, settings.url);
  assert.ok([found.aud].flat().includes(resource.href), `aud is ${found.aud}`);
  assert.equal(found.token_type.toLowerCase(), "bearer");
  assert.equal(found.exp - found.iat, 3600);
  assert.ok(Math.abs(found.iat - Date.now() / 1000) < 600, `iat is ${found.iat}`);
}

async function resumeRun(person, inspector, { library, client: stored, as, tokens, later, page }) {
  const Library = LIBRARIES.find((candidate) => candidate.library === library);
  const client = await Library.restore(stored);
  const isPublic = stored.token_endpoint_auth_method === "none";
  const introspect = (token) => (isPublic ? inspector : client).introspect(token);
  if (isPublic) {
    await refused(client.introspect(tokens.access_token), "invalid_client", 401);
  }
  checkActive(await introspect(tokens.access_token), stored, as);

  const second = noteTokens(await client.refresh(tokens.refresh_token));
  const third = noteTokens(await client.refresh(second.refresh_token));
  const all = [tokens, second, third].flatMap((each) => [each.access_token, each.refresh_token]);
  assert.equal(new Set(all).size, all.length, "every refresh gives new tokens");
  checkActive(await introspect(third.access_token), stored, as);

  const other = await approve(client, person, page, as, later);
  checkActive(await introspect(other.access_token), stored, as);
  await client.revoke(other.access_token, "access_token");
  assert.deepEqual(await introspect(other.access_token), { active: false });

  await client.revoke(third.refresh_token, "refresh_token");
  assert.deepEqual(await introspect(third.access_token), { active: false });
  await refused(client.refresh(third.refresh_token), "invalid_grant", 400);
  await client.revoke("a-token-of-nobody");
  await checkRegistration(client);
}

/** What RFC 7592 lets a client do with its registration; neither library knows it. */
async function checkRegistration(client) {
  const { client_id, registration_client_uri, registration_access_token } = client.client;
  const send = (method) =>
    fetch(registration_client_uri, { method, headers: { Authorization: `Bearer ${registration_access_token}` }, redirect: "error" });
  const read = await send("GET");
  assert.equal(read.status, 200);
  assert.equal((await read.json()).client_id, client_id);
  assert.equal((await send("DELETE")).status, 204);
  assert.equal((await send("GET")).status, 401);
  await refused(client.refresh("a-token-of-nobody"), "invalid_client", 401);
}

/** A client that has one agent's rights and no person to ask. */
async function checkCredentials(person, Library) {
  const made = await person.call("POST", "/api/oauth/clients", { name: `${Library.library} alone`, agent }, 201);
  const { client_id } = made.client;
  const client_secret = secret(made.client_secret);
  for (const token_endpoint_auth_method of METHODS.slice(1)) {
    const client = await Library.restore({ client_id, client_secret, token_endpoint_auth_method });
    const tokens = noteTokens(await client.credentials());
    assert.equal(tokens.refresh_token, undefined);
    checkActive(await client.introspect(tokens.access_token), made.client, agent);
    await client.revoke(tokens.access_token, "access_token");
    assert.deepEqual(await client.introspect(tokens.access_token), { active: false });
  }
  const stranger = await Library.restore({ client_id, client_secret: `${client_secret}x`, token_endpoint_auth_method: METHODS[1] });
  await refused(stranger.credentials(), "invalid_client", 401);
}

async function resume() {
  const { cookies, runs } = JSON.parse(readFileSync(stateFile, "utf8"));
  const person = new Person(settings.url, cookies);
  const inspector = await Oauth4webapi.restore({ ...settings.inspector, token_endpoint_auth_method: METHODS[1] });
  for (const run of runs) {
    where = `${run.library} as ${run.client.token_endpoint_auth_method}`;
    await resumeRun(person, inspector, run);
  }
  for (const Library of LIBRARIES) {
    where = `${Library.library} with client credentials`;
    await checkCredentials(person, Library);
  }
}

let where = phase;
try {
  await { begin, resume }[phase]();
} catch (error) {
  console.error(`oauth_flow.mjs: ${where}:`, error);
  process.exitCode = 1;
}
