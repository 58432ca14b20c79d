// Refusals, a slow server, and a lost connection in the console.
import { call, open } from "./harness.mjs";
import { project } from "./seed.mjs";

const problem = (status, code, title, detail) => ({
  status,
  contentType: "application/problem+json",
  body: JSON.stringify({ type: `/problems/${code}`, title, status, detail, code, traceId: "trace-1" }),
});

export const trouble = {
  async "a refusal shows the fault, the reason and the remedy"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}/pools/eu-prod-apps`);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete the pool" }).click();
    const note = page.getByRole("dialog").getByRole("alert");
    await note.getByText("First release or delete its contents.").waitFor();
    assert.equal(await note.getByRole("link", { name: /in_use/ }).getAttribute("href"), "/problems/in_use");
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "a change by another user is shown as a conflict"(browser, assert) {
    const { page, at } = await open(browser);
    await call("PUT", `/v1/projects/${project}/claims/raced`, { spec: { poolRef: { name: "eu-prod-apps" }, prefixLength: 32 } });
    await at(`/projects/${project}/claims/raced`);
    await page.getByRole("button", { name: "Release" }).click();
    await page.route("**/claims/raced", (route) => (route.request().method() === "DELETE"
      ? route.fulfill(problem(412, "precondition_failed", "The precondition does not hold", "It was changed.")) : route.continue()));
    await page.getByRole("button", { name: /^Release 10/ }).click();
    await page.getByText("It was changed meanwhile").waitFor();
    await page.context().close();
    assert.ok(true);
  },

  async "a missing object and a hidden object are not found"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}/pools/gone`);
    await page.getByText(`There is no pool gone in project ${project}.`).waitFor();
    await page.getByText("you may have no role in its project").waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "a response that is no problem document is an error"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await page.route("**/v1/projects/*/quotas*", (route) =>
      route.fulfill({ status: 502, body: "<html>bad gateway</html>", contentType: "text/html" }),
    );
    await at(`/projects/${project}/quotas`);
    await page.getByText("A proxy between this page and the server").waitFor();
    await page.unroute("**/v1/projects/*/quotas*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("row").filter({ hasText: "total" }).waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "a slow server: the page shows that it waits, then the response"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    let release;
    const held = new Promise((done) => { release = done; });
    await page.route("**/v1/projects/*/claims?*", async (route) => { await held; await route.continue(); });
    await at(`/projects/${project}/claims`);
    await page.getByRole("status", { name: "Loading" }).waitFor();
    await page.getByText("takes longer than usual").waitFor();
    release();
    await page.getByRole("link", { name: "web-1", exact: true }).waitFor();
    await page.getByText("takes longer than usual").waitFor({ state: "detached" });
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "a lost connection: the page keeps its contents and reconnects"(browser, assert) {
    const { page, at, context } = await open(browser);
    await at(`/projects/${project}/claims`);
    await page.getByRole("link", { name: "web-1", exact: true }).waitFor();
    await context.setOffline(true);
    await page.getByRole("link", { name: "Quotas" }).click();
    await page.getByText("The server cannot be reached").waitFor();
    await page.getByText("No connection").first().waitFor();
    await context.setOffline(false);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("row").filter({ hasText: "total" }).waitFor();
    await page.getByText("The server cannot be reached").waitFor({ state: "detached" });
    await context.close();
    assert.ok(true);
  },

  async "an ended session asks for a sign-in, and continues on the same page"(browser, assert) {
    const { page, at, context } = await open(browser);
    await page.route("**/console/session", (route) =>
      route.fulfill({ json: { signedIn: false, methods: ["key", "oidc"], issuers: [{ name: "corp" }] } }),
    );
    await page.route("**/v1/**", (route) => route.fulfill(problem(401, "unauthenticated", "No valid credentials", "Sign in.")));
    await at(`/projects/${project}/claims`);
    await page.getByRole("heading", { name: "Sign in to Carve" }).waitFor();
    const link = await page.getByRole("link", { name: "Sign in with corp" }).getAttribute("href");
    assert.equal(link, `/console/login?issuer=corp&return=${encodeURIComponent(`/console/projects/${project}/claims`)}`);
    await page.getByLabel("API key").fill("carve_x_y");
    await page.unroute("**/console/session");
    await page.route("**/console/session", (route) => (route.request().method() === "POST"
      ? route.fulfill(problem(401, "unauthenticated", "No valid credentials", "This API key is not valid on this server.")) : route.continue()));
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText("This API key is not valid on this server.").waitFor();
    await context.close();
  },

  async "buttons by role: a viewer sees no button that changes anything"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await page.route("**/v1/whoami", (route) =>
      route.fulfill({ json: { subject: "corp:alice", method: "corp", platformAdmin: false, roles: [{ project, role: "viewer" }] } }),
    );
    await at(`/projects/${project}/pools/eu-prod`);
    await page.getByRole("heading", { name: "eu-prod" }).waitFor();
    await page.getByRole("tab", { name: "About" }).click();
    for (const name of ["Claim a block", "Carve for a team", "Split", "Child pool"])
      assert.equal(await page.getByRole("link", { name }).count(), 0, name);
    assert.equal(await page.getByRole("button", { name: "Delete" }).count(), 0);
    assert.equal(await page.getByRole("link", { name: "Audit trail" }).count(), 0);
    await page.context().close();
    assert.deepEqual(wrong, []);
  },
};
