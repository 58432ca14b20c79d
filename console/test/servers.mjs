// Servers for these tests, an OpenID Connect issuer, and browsers that record the requests and errors of pages.
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { spawn } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const program = process.env.SERVER_PROGRAM;
if (!program) throw new Error("SERVER_PROGRAM is not set: make console-test sets it");

/** Starts a server. Without a database URL it has its own database. */
export async function start(flags, database) {
  const dir = await mkdtemp(join(tmpdir(), "carve-console-"));
  await chmod(dir, 0o755); // PostgreSQL runs as another user if this one is root
  const where = database ? [`--database-url=${database}`] : [`--data-dir=${join(dir, "data")}`];
  const child = spawn(program, ["--listen=127.0.0.1:0", "--request-timeout=60s", ...where, ...flags], { stdio: ["ignore", "pipe", "pipe"] });
  const server = { said: "", logged: "" };
  createInterface({ input: child.stderr }).on("line", (text) => { server.logged += text + "\n"; });
  const ended = new Promise((done) => { child.once("exit", done); });
  await new Promise((up, failed) => {
    ended.then(() => failed(new Error(`the server ended: ${server.logged}`)));
    createInterface({ input: child.stdout }).on("line", (text) => {
      server.said += text + "\n";
      const at = /^listening on (\S+)/.exec(text);
      if (at) { server.url = `http://${at[1]}`; setTimeout(up, 200); }
    });
  });
  server.database = /dsn="?([^"\s]+?)"?\s/.exec(server.logged)?.[1] ?? /"dsn":"([^"]+)"/.exec(server.logged)?.[1];
  server.stop = async () => { child.kill(); await ended; await rm(dir, { recursive: true, force: true }); };
  return server;
}

const base64 = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

/** An OpenID Connect issuer with a page that asks for the user. Its site differs from the servers': localhost is not 127.0.0.1. */
export async function issuer() {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const asked = new Map();
  const people = { alice: ["netops"], bob: [] };
  const provider = { secrets: [], portal: "" };
  const http = createServer((request, response) => {
    const at = new URL(request.url, provider.url);
    const json = (status, body) => { response.writeHead(status, { "Content-Type": "application/json" }); response.end(JSON.stringify(body)); };
    const html = (body) => { response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }); response.end(`<!doctype html><html lang="en"><title>Issuer</title>${body}`); };
    const back = (parameters) => {
      const to = new URL(at.searchParams.get("redirect_uri"));
      for (const [name, value] of Object.entries({ ...parameters, state: at.searchParams.get("state") })) to.searchParams.set(name, value);
      response.writeHead(302, { Location: to.href });
      response.end();
    };
    if (at.pathname === "/.well-known/openid-configuration") {
      return json(200, {
        issuer: provider.url, authorization_endpoint: `${provider.url}/auth`, token_endpoint: `${provider.url}/token`, jwks_uri: `${provider.url}/keys`,
        response_types_supported: ["code"], subject_types_supported: ["public"], id_token_signing_alg_values_supported: ["ES256"],
      });
    }
    if (at.pathname === "/keys") return json(200, { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k", alg: "ES256", use: "sig" }] });
    if (at.pathname === "/portal") return html(provider.portal);
    if (at.pathname === "/auth") {
      const as = (who) => `<p><a href="/approve${at.search.replaceAll("&", "&amp;")}&amp;who=${who}">${who}</a></p>`;
      return html(`<h1>Who are you?</h1>${as("alice")}${as("bob")}${as("nobody")}`);
    }
    if (at.pathname === "/approve") {
      const who = at.searchParams.get("who");
      if (!(who in people)) return back({ error: "access_denied" });
      const code = randomBytes(16).toString("hex");
      asked.set(code, { who, parameters: at.searchParams });
      return back({ code });
    }
    if (at.pathname !== "/token") return json(404, {});
    let body = "";
    request.on("data", (part) => { body += part; });
    request.on("end", () => {
      const form = new URLSearchParams(body);
      const of = asked.get(form.get("code"));
      asked.delete(form.get("code"));
      const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
      if (!of || challenge !== of.parameters.get("code_challenge") || form.get("redirect_uri") !== of.parameters.get("redirect_uri")) return json(400, { error: "invalid_grant" });
      const claims = { iss: provider.url, aud: "carve-console", sub: of.who, groups: people[of.who], nonce: of.parameters.get("nonce"), exp: Math.floor(Date.now() / 1000) + 3600 };
      const signed = `${base64({ alg: "ES256", kid: "k" })}.${base64(claims)}`;
      const token = `${signed}.${sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
      provider.secrets.push(token, form.get("code"), form.get("code_verifier"));
      return json(200, { access_token: "opaque", token_type: "Bearer", expires_in: 3600, id_token: token });
    });
    return undefined;
  });
  await new Promise((up) => { http.listen(0, "localhost", up); });
  provider.url = `http://localhost:${http.address().port}`;
  const dir = await mkdtemp(join(tmpdir(), "carve-issuer-"));
  provider.file = join(dir, "oidc.yaml");
  await writeFile(provider.file, `issuers:
  - name: corp
    url: ${provider.url}
    audience: carve
    signIn: {clientId: carve-console, scopes: [groups]}
    roles:
      - {claim: groups, value: netops, project: platform, role: admin}
`);
  provider.stop = async () => { http.closeAllConnections(); await new Promise((done) => { http.close(done); }); await rm(dir, { recursive: true }); };
  return provider;
}

/** Opens a page and records errors, violations of the policy, and requests to other origins than these. None of these may happen. */
export async function watch(context, ...origins) {
  const page = await context.newPage();
  page.setDefaultTimeout(120_000); // a safeguard: the machine may be busy
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) wrong.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (!origins.includes(origin) && !["data:", "blob:"].includes(protocol)) wrong.push(`asked another origin: ${request.url()}`);
  });
  await page.addInitScript(() => { document.addEventListener("securitypolicyviolation", (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`)); });
  return { page, wrong };
}

/** Sends a request to a server's API, which admits everybody in development. */
export async function ask(server, method, path, body, headers = {}) {
  const response = await fetch(server.url + path, {
    method, headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers }, ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}
