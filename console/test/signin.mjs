// Sign-in at an issuer: cookies, redirects and tabs in a real browser.
import { watch } from "./servers.mjs";

const cookie = "carve-session";

/** A new user with their own browser context and one page. */
async function person(browser, { server, other, issuer }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-GB", timezoneId: "UTC" });
  const { page, wrong } = await watch(context, server.url, other.url, issuer.url);
  const session = async () => (await context.cookies(server.url)).find(({ name }) => name === cookie);
  const heading = (name, on = page) => on.getByRole("heading", { name, level: 1 }).waitFor();
  const enter = async (who, path = "/console/", from = server) => {
    await page.goto(from.url + path);
    await page.getByRole("link", { name: "Sign in with corp" }).click();
    await page.getByRole("link", { name: who }).click();
  };
  return { context, page, wrong, session, heading, enter };
}

const signedIn = async (server, session) => (await fetch(`${server.url}/v1/whoami`, { headers: { "X-Carve-Console": "1", Cookie: `${cookie}=${session}` } })).status;

export const signIn = {
  async "a deep link is kept over the issuer, and nothing is left for scripts"(browser, assert, at) {
    const { context, page, wrong, session, heading, enter } = await person(browser, at);
    const link = "/console/projects/platform/claims?filter=env%3Dprod";
    await enter("alice", link);
    await heading("Claims");
    assert.equal(page.url(), at.server.url + link);
    assert.equal(await page.getByLabel("Filter").inputValue(), "env=prod");
    await page.getByText("corp:alice").waitFor();
    const held = await session();
    assert.deepEqual([held.httpOnly, held.sameSite, held.path], [true, "Strict", "/"]);
    assert.deepEqual((await context.cookies(at.server.url)).map(({ name }) => name), [cookie], "the cookie of the attempt is gone");
    const readable = await page.evaluate(() => [document.cookie, JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }), location.href, document.documentElement.outerHTML].join());
    for (const secret of [held.value, ...at.issuer.secrets]) assert.ok(!readable.includes(secret), "a script can read a secret");
    for (const secret of [held.value, ...at.issuer.secrets]) assert.ok(!at.server.logged.includes(secret), "the log has a secret");
    await page.reload();
    await heading("Claims");
    await context.close();
    assert.deepEqual(wrong, []);
  },

  async "a new sign-in ends the previous session"(browser, assert, at) {
    const { context, page, wrong, session, heading, enter } = await person(browser, at);
    await enter("alice");
    await heading("Projects");
    const before = (await session()).value;
    assert.equal(await signedIn(at.server, before), 200);
    await page.goto(`${at.server.url}/console/login?issuer=corp`);
    await page.getByRole("link", { name: "bob" }).click();
    await page.getByText("corp:bob").waitFor();
    assert.notEqual((await session()).value, before);
    assert.equal(await signedIn(at.server, before), 401);
    await context.close();
    assert.deepEqual(wrong, []);
  },

  async "a user refused by the issuer sees the refusal; a user without a role sees nothing"(browser, assert, at) {
    const { context, page, wrong, session, heading, enter } = await person(browser, at);
    await enter("nobody");
    await heading("You are not signed in");
    assert.equal(await session(), undefined);
    await page.getByRole("link", { name: "Back to the console" }).click();
    await heading("Sign in to Carve");
    await enter("bob", "/console/projects/platform/claims");
    await page.getByText("corp:bob").waitFor();
    await page.getByRole("alert").getByText("not_found").or(page.getByRole("alert").getByText("permission_denied")).first().waitFor();
    await context.close();
    assert.deepEqual(wrong, []);
  },

  async "a response with another state, or without a request, signs no user in"(browser, assert, at) {
    const { context, page, wrong, session, heading } = await person(browser, at);
    await page.goto(`${at.server.url}/console/callback?code=stolen&state=x`);
    await heading("You are not signed in");
    await page.goto(`${at.server.url}/console/login?issuer=corp`);
    await page.getByRole("heading", { name: "Who are you?" }).waitFor();
    await page.goto(`${at.server.url}/console/callback?code=stolen&state=x`);
    await heading("You are not signed in");
    await page.getByText("belongs to another sign-in").waitFor();
    assert.equal(await session(), undefined);
    assert.deepEqual(await context.cookies(at.server.url), [], "the attempt is used up");
    await context.close();
    assert.deepEqual(wrong, []);
  },

  async "a link on another site asks before the sign-in, and redirects nowhere else"(browser, assert, at) {
    const { context, page, wrong, session, heading } = await person(browser, at);
    const login = `${at.server.url}/console/login?issuer=corp&amp;return=https://evil.example/`;
    at.issuer.portal = `<a href="${login}">Carve</a><iframe src="${login}" title="frame"></iframe><form method="post" enctype="text/plain" action="${at.server.url}/console/session"><button name='{"key":"' value='x"}'>Send</button></form>`;
    await page.goto(`${at.issuer.url}/portal`);
    await page.getByRole("link", { name: "Carve" }).click();
    await heading("Sign in to Carve");
    assert.deepEqual(await context.cookies(at.server.url), []);
    await page.getByRole("link", { name: "Sign in with corp" }).click();
    await page.getByRole("link", { name: "alice" }).click();
    await heading("Projects");
    assert.ok(page.url().startsWith(`${at.server.url}/console/`));
    const held = await session();
    await page.goto(`${at.issuer.url}/portal`);
    const reads = await page.evaluate((url) => fetch(`${url}/v1/whoami`, { credentials: "include", headers: { "X-Carve-Console": "1" } }).then(() => "read", () => "refused"), at.server.url);
    assert.equal(reads, "refused");
    const answered = page.waitForResponse((response) => response.url().endsWith("/console/session"));
    await page.getByRole("button", { name: "Send" }).click();
    assert.equal((await answered).status(), 403, "a form of another site changes nothing");
    assert.deepEqual(await session(), held);
    await context.close();
    assert.deepEqual(wrong.filter((each) => !/frame-ancestors|X-Frame-Options|CORS|refused to connect|Refused to (display|frame)|Framing|policy: /i.test(each)), []);
  },

  async "a sign-out ends the session in the other tab and at the other server"(browser, assert, at) {
    const { context, page, wrong, session, heading, enter } = await person(browser, at);
    await enter("alice", "/console/projects/platform/claims");
    await heading("Claims");
    const held = (await session()).value;
    const tabs = [];
    for (const [server, path] of [[at.server, "pools"], [at.other, "claims"]]) {
      const tab = await watch(context, server.url);
      await tab.page.goto(`${server.url}/console/projects/platform/${path}`);
      await heading(path === "pools" ? "Pools" : "Claims", tab.page);
      tabs.push(tab);
    }
    await page.getByRole("button", { name: "Sign out" }).click();
    await heading("Sign in to Carve");
    await heading("Sign in to Carve", tabs[0].page);
    assert.equal(await signedIn(at.server, held), 401);
    const until = Date.now() + 120_000;
    while (await signedIn(at.other, held) !== 401) assert.ok(Date.now() < until, "the other server still takes the session");
    await tabs[1].page.getByRole("link", { name: "Quotas" }).click({ timeout: 2000 }).catch(() => {}); // unless its feed has reported the sign-out already
    await heading("Sign in to Carve", tabs[1].page);
    await page.reload();
    await heading("Sign in to Carve");
    assert.equal(await session(), undefined);
    await context.close();
    assert.deepEqual([...wrong, ...tabs[0].wrong, ...tabs[1].wrong], []);
  },
};
