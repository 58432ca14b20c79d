// Pages show everything, even in large projects and in projects whose spaces overlap, or report that they do not.
import { call, open } from "./harness.mjs";
import { many, project } from "./seed.mjs";

const pool = (owner, name, spec, labels) => call("POST", `/v1/projects/${owner}/pools`, { metadata: { name, ...(labels ? { labels } : {}) }, spec });
const claim = (owner, name, spec) => call("PUT", `/v1/projects/${owner}/claims/${name}`, { spec });
const gone = (path) => call("DELETE", path);

export const whole = {
  async "an address names each space, its holder there and the pools around it"(browser, assert) {
    const owner = "overlap";
    await call("POST", "/v1/projects", { metadata: { name: owner } });
    await call("POST", `/v1/projects/${owner}/spaces`, { metadata: { name: "lab" }, spec: {} });
    await pool(owner, "net", { cidr: "10.0.0.0/8" });
    await pool(owner, "net-k8s", { parentRef: { name: "net" }, cidr: "10.0.0.0/16" });
    await pool(owner, "bench", { cidr: "10.0.0.0/12", spaceRef: { name: "lab" } });
    await pool(owner, "bench-1", { parentRef: { name: "bench" }, cidr: "10.0.0.0/15", reservations: [{ cidr: "10.1.0.0/24", reason: "Printers" }] });
    await claim(owner, "web", { poolRef: { name: "net-k8s" }, cidr: "10.0.192.0/24" });
    await claim(owner, "test-rig", { poolRef: { name: "bench-1" }, cidr: "10.0.192.0/24" });
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${owner}/addresses/10.0.192.77`);
    const here = page.getByRole("region", { name: "Space default" });
    const lab = page.getByRole("region", { name: "Space lab" });
    await here.getByText("Held by claim").waitFor();
    assert.deepEqual(await here.getByRole("link").allTextContents(), ["web", "net", "net-k8s"]);
    assert.deepEqual(await lab.getByRole("link").allTextContents(), ["test-rig", "bench", "bench-1"]);
    await gone(`/v1/projects/${owner}/claims/test-rig`);
    await lab.getByText("Free", { exact: true }).waitFor();
    await here.getByText("Held by claim").waitFor();
    await page.getByRole("region", { name: "Former holders" }).getByText("test-rig").first().waitFor();
    await at(`/projects/${owner}/addresses/10.1.0.9`);
    await lab.getByText("Reserved").waitFor();
    await lab.getByText("Printers").waitFor();
    assert.deepEqual(await here.getByRole("link").allTextContents(), ["net", "Claim it", "net"]);
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "the filter of a large project finds every pool with such a name, or says that there are more"(browser, assert) {
    const body = Array.from({ length: 120 }, (_, i) => ({ metadata: { name: `p-00010-${String(i).padStart(3, "0")}` }, spec: { poolRef: { name: "hosts-0" }, prefixLength: 32 } }));
    await call("POST", `/v1/projects/${many}/claim-batches`, { claims: body });
    const { page, at, wrong } = await open(browser);
    const found = page.getByRole("list", { name: "Pools found" }).getByRole("listitem");
    await at(`/projects/${many}/pools?filter=p-00010`);
    await page.getByText("10 pools", { exact: true }).waitFor();
    assert.equal(await found.count(), 10);
    await at(`/projects/${many}/pools?filter=p-00`);
    await page.getByText("The first 100 pools; there are more.").waitFor();
    await page.getByText("Type more of the name").waitFor();
    await at(`/projects/${many}/pools?filter=10.0.0.0/22`);
    await page.getByText("17 pools", { exact: true }).waitFor(); // the root and sixteen /26
    await at("/search?q=p-00");
    await page.getByText("The first 100; there are more.").waitFor();
    await page.getByRole("combobox", { name: /Search/ }).fill("p-00");
    await page.getByRole("option", { name: /Show all hits/ }).waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "grants are found in a project of any size"(browser, assert) {
    await pool(many, "zz-shared", { cidr: "172.20.0.0/24", visibility: "shared" });
    await call("PUT", `/v1/projects/${many}/pools/zz-shared/grants/shop`);
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${many}/grants`);
    await page.getByRole("columnheader", { name: "shop" }).waitFor();
    await page.getByRole("row", { name: /zz-shared/ }).getByRole("button", { name: "granted: withdraw zz-shared from shop" }).waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "the fullest pools are those that are used up, and a divided pool is not shown as full"(browser, assert) {
    await pool(many, "zz-full", { cidr: "172.16.0.0/31" });
    for (const i of [0, 1]) await claim(many, `full-${i}`, { poolRef: { name: "zz-full" }, prefixLength: 32 });
    await pool(many, "zz-divided", { cidr: "172.17.0.0/24" });
    for (const i of [0, 1]) await pool(many, `zz-half-${i}`, { parentRef: { name: "zz-divided" }, prefixLength: 25 });
    await call("POST", `/v1/projects/${many}/alert-rules`, { metadata: { name: "full" }, spec: { about: "Pools", percent: 90 } });
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${many}`);
    const fullest = page.getByRole("region", { name: "Fullest pools" });
    await fullest.getByRole("link", { name: "zz-full" }).waitFor();
    assert.equal(await fullest.getByRole("link", { name: "zz-divided" }).count(), 0);
    await fullest.getByText(/^Of (all|the first) [\d,]+ pools/).waitFor();
    await at(`/projects/${many}/pools/zz-divided`);
    await page.getByText("Fully carved").waitFor();
    await page.getByText("Each child pool shows its own use").waitFor();
    await page.locator(".summary .bar.divided").waitFor();
    await at(`/projects/${many}/alerts`);
    await page.getByRole("listitem").filter({ hasText: "zz-divided" }).getByText("divided among child pools").waitFor();
    await page.getByRole("listitem").filter({ hasText: "zz-full" }).locator(".bar.full").waitFor();
    await at(`/projects/${many}/pools?filter=zz-`);
    await page.getByRole("listitem").filter({ hasText: "zz-divided" }).locator(".bar.divided").waitFor();
    await page.getByRole("listitem").filter({ hasText: "zz-full" }).locator(".bar.full").waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "a pool shows the path to it, and the figures of its child pools"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}/pools/eu-prod?tab=children`);
    const path = page.getByRole("navigation", { name: "Where this is" });
    await path.getByRole("link", { name: "corp" }).waitFor();
    assert.deepEqual(await path.getByRole("link").allTextContents(), ["Pools", "corp", "eu"]);
    await page.getByRole("row", { name: /eu-dns/ }).getByRole("img", { name: "eu-dns: 100 % used" }).waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "a deleted object names its deleter and offers no action"(browser, assert) {
    await claim(project, "brief", { poolRef: { name: "eu-prod-apps" }, prefixLength: 32 });
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}/claims/brief`);
    await page.getByRole("button", { name: "Release" }).waitFor();
    await gone(`/v1/projects/${project}/claims/brief`);
    await page.getByText(`There is no claim brief in project ${project}.`).waitFor();
    await page.getByText(/released it on/).waitFor();
    assert.equal(await page.getByRole("alert").count(), 1);
    assert.equal(await page.getByRole("button", { name: "Release" }).count(), 0);
    assert.equal(await page.getByText("Bound").count(), 0);
    await at("/projects/no-such-project/pools");
    await page.getByRole("heading", { name: "There is no project no-such-project" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "New pool" }).count(), 0);
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "the tree and the list of claims are as they were, after Back"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${many}/pools`);
    await page.getByRole("button", { name: "Open hosts" }).waitFor();
    await page.getByRole("button", { name: "Open hosts" }).click();
    await page.getByRole("link", { name: "hosts-3" }).click();
    await page.getByRole("heading", { name: "hosts-3" }).waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "hosts-3" }).waitFor();
    await at(`/projects/${many}/claims`);
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByText("The first 200 claims; there may be more.").waitFor();
    await page.getByRole("link", { name: "Quotas" }).click();
    await page.getByRole("heading", { name: "Quotas" }).waitFor();
    await page.goBack();
    await page.getByText("The first 200 claims; there may be more.").waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "a filter that finds nothing says what it looked for"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    for (const part of ["10.0", "10.0.0"]) {
      for (const list of ["pools", "claims"]) {
        await at(`/projects/${many}/${list}?filter=${part}`);
        await page.getByText("Enter a whole address or block").waitFor();
        assert.equal(await page.getByText(/^No (pool|claim)/).count(), 0);
      }
    }
    await at(`/projects/${many}/claims?filter=host-0000&pool=${many}/hosts-0`);
    await page.getByText(/claims? with names that begin with “host-0000”/).waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "a root without child pools loses its arrow"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${many}/pools`);
    await page.getByRole("row", { name: /r-000003/ }).getByRole("img").waitFor();
    await page.getByRole("button", { name: "Open r-000003" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Open hosts" }).waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "lists are as long as they were, after Back"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    const rows = page.getByRole("region", { name: "Held blocks" }).getByRole("row");
    await at(`/projects/${many}/pools/root?tab=claims`);
    await page.getByRole("button", { name: "Show more" }).click();
    await rows.nth(400).waitFor();
    const before = await rows.count();
    await page.getByRole("link", { name: "Quotas" }).click();
    await page.getByRole("heading", { name: "Quotas" }).waitFor();
    await page.goBack();
    await rows.nth(400).waitFor();
    assert.equal(await rows.count(), before);
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "lists that are cut say so"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    const metadata = (name) => ({ name, uid: name, revision: "1", createdAt: "2026-01-01T00:00:00Z", updatedAt: "2026-01-01T00:00:00Z" });
    const items = (count, make) => Array.from({ length: count }, (_, i) => make(i));
    await page.route("**/v1/projects?*", (route) => route.fulfill({ json: {
      items: items(500, (i) => ({ metadata: metadata(`t-${i}`), spec: {} })), nextCursor: "more",
    } }));
    await page.route(`**/v1/projects/${project}/quotas?*`, (route) => route.fulfill({ json: {
      items: items(9, (i) => ({ metadata: metadata(`q-${i}`), spec: { limits: { claims: 9 } }, status: { owner: "project", used: { addresses: "0", claims: i, pools: 0 } } })),
    } }));
    await page.route(`**/v1/projects/${project}/pools?*`, async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      for (const pool of body.items) pool.status.capacity.coolingDown = "1";
      return route.fulfill({ response, json: body });
    });
    await at(`/projects/${project}`);
    await page.getByRole("region", { name: "Quotas" }).getByText("The 8 nearest to their limits of 9.").waitFor();
    await page.getByText(/^The 10 pools with the largest share of \d+\.$/).waitFor();
    await page.locator(".switcher option", { hasText: "Only the first 1,000" }).waitFor({ state: "attached" });
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "the former holders of an address do not include other projects' pools, and the page says so"(browser, assert) {
    await pool(project, "lent", { cidr: "172.30.0.0/24", visibility: "shared" });
    await call("PUT", `/v1/projects/${project}/pools/lent/grants/shop`);
    await claim("shop", "lent-once", { poolRef: { project, name: "lent" }, cidr: "172.30.0.1/32" });
    await gone("/v1/projects/shop/claims/lent-once");
    const { page, at, wrong } = await open(browser);
    await at("/projects/shop/addresses/172.30.0.1");
    await page.getByText("No earlier holder in a pool of this project is recorded.").waitFor();
    await page.context().close();
    await gone(`/v1/projects/${project}/pools/lent/grants/shop`);
    await gone(`/v1/projects/${project}/pools/lent`);
    assert.deepEqual(wrong, []);
  },
};
