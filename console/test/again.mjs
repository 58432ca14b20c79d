// Lost responses and interrupted steps: nothing is created twice, and missing objects can be created later.
import { call, open } from "./harness.mjs";
import { project } from "./seed.mjs";

/** Lets requests reach the server and cuts their responses: `count` of them, starting with number `from`. */
async function cut(page, pattern, method, { from = 1, count = 1, reaches = true } = {}) {
  const seen = { keys: [], cut: 0 };
  await page.route(pattern, async (route) => {
    const request = route.request();
    if (request.method() !== method || request.url().includes("dryRun=true")) return route.continue();
    seen.keys.push((await request.allHeaders())["idempotency-key"]);
    if (seen.keys.length < from || seen.cut >= count) return route.continue();
    seen.cut++;
    if (reaches) await route.fetch();
    return route.abort("connectionreset");
  });
  return seen;
}

const claims = async (owner) => (await call("GET", `/v1/projects/${owner}/claims?limit=500`)).items;
const pools = async (owner) => (await call("GET", `/v1/projects/${owner}/pools?limit=500`)).items.map((pool) => pool.metadata.name).sort();

/** Creates a project with one pool. */
async function make(owner) {
  await call("POST", "/v1/projects", { metadata: { name: owner } });
  await call("POST", `/v1/projects/${owner}/pools`, { metadata: { name: "net" }, spec: { cidr: "10.0.0.0/16" } });
}

export const again = {
  async "a claim whose answer was lost is claimed once, also after a reload"(browser, assert) {
    await make("lost-claim");
    const { page, at } = await open(browser);
    const seen = await cut(page, "**/v1/projects/lost-claim/claims", "POST", { count: 2 });
    await at("/projects/lost-claim/new-claim?pool=net");
    await page.getByLabel("Size").fill("25");
    await page.getByRole("button", { name: "Claim", exact: true }).click();
    await page.getByText("The server did not respond").waitFor();
    await page.getByRole("button", { name: "Claim", exact: true }).click();
    await page.waitForFunction(() => document.querySelector("form button")?.textContent === "Claim");
    await page.getByText("The server did not respond").waitFor();
    await page.reload();
    assert.equal(await page.getByLabel("Size").inputValue(), "25");
    await page.getByRole("button", { name: "Claim", exact: true }).click();
    await page.waitForURL(/claims\/claim-/);
    assert.equal((await claims("lost-claim")).length, 1);
    assert.equal(new Set(seen.keys).size, 1);
    // The same contents are another intent once the first has succeeded.
    await at("/projects/lost-claim/new-claim?pool=net");
    await page.getByLabel("Size").fill("25");
    await page.getByRole("button", { name: "Claim", exact: true }).click();
    await page.waitForURL(/claims\/claim-/);
    assert.equal((await claims("lost-claim")).length, 2);
    await page.context().close();
  },

  async "pools, projects and alert rules keep their key for the same contents"(browser, assert) {
    await make("lost-others");
    const { page, at } = await open(browser);
    const pool = await cut(page, "**/v1/projects/lost-others/pools", "POST");
    await at("/projects/lost-others/new-pool?parent=net");
    await page.getByRole("textbox", { name: "Name" }).fill("sub");
    await page.getByLabel("Size").fill("24");
    await page.getByRole("button", { name: "Create pool" }).click();
    await page.getByText("The server did not respond").waitFor();
    await page.getByRole("button", { name: "Create pool" }).click();
    await page.getByRole("heading", { name: "sub", exact: true }).waitFor();
    const rule = await cut(page, "**/v1/projects/lost-others/alert-rules", "POST");
    await at("/projects/lost-others/alerts");
    await page.getByRole("button", { name: "New rule" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("full");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The server did not respond").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row").filter({ hasText: "full" }).waitFor();
    const made = await cut(page, "**/v1/projects", "POST");
    await at("/projects");
    await page.getByRole("button", { name: "New project" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("lost-made");
    await page.getByRole("button", { name: "Create project" }).click();
    await page.getByText("The server did not respond").waitFor();
    await page.getByRole("button", { name: "Create project" }).click();
    await page.getByRole("heading", { name: "lost-made" }).waitFor();
    for (const { keys } of [pool, rule, made]) {
      assert.equal(keys.length, 2);
      assert.ok(keys[0] && keys[0] === keys[1]);
    }
    await page.context().close();
  },

  async "a split that was cut shows the parts that exist, and goes on"(browser, assert) {
    await make("cut-split");
    const { page, at, wrong } = await open(browser);
    await cut(page, "**/v1/projects/cut-split/pools", "POST", { from: 3, count: 99, reaches: false });
    await at("/projects/cut-split/pools/net/split");
    await page.getByText("4 parts of 4 can be carved").waitFor();
    await page.getByRole("button", { name: "Carve 4 pools" }).click();
    await page.getByText("The server did not respond").waitFor();
    await page.getByText("2 parts of 4 can be carved, 2 exist already.").waitFor();
    await page.unroute("**/v1/projects/cut-split/pools");
    await page.reload();
    await page.getByText("2 parts of 4 can be carved, 2 exist already.").waitFor();
    await page.getByRole("button", { name: "Continue: carve 2 pools" }).click();
    await page.getByText("All 4 parts are child pools.").waitFor();
    assert.deepEqual(await pools("cut-split"), ["net", "net-1", "net-2", "net-3", "net-4"]);
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "a pool for a team without its grant gets it, after a reload"(browser, assert) {
    await make("cut-team");
    const { page, at, wrong } = await open(browser);
    const grants = "**/v1/projects/cut-team/pools/*/grants/*";
    await cut(page, grants, "PUT", { reaches: false, count: 99 });
    await at("/projects/cut-team/pools/net/hand-over");
    await page.getByRole("combobox", { name: "Team" }).fill("shop");
    await page.getByText("Would be carved").waitFor();
    await page.getByRole("button", { name: "Carve and hand over" }).click();
    await page.getByText("The server did not respond").waitFor();
    await page.getByText("shop cannot claim from it yet: the grant is missing.").waitFor();
    assert.equal(await page.getByText("Would be carved").count(), 0);
    await page.unroute(grants);
    await page.reload();
    await page.getByText("shop cannot claim from it yet: the grant is missing.").waitFor();
    await page.getByRole("button", { name: "Grant the pool" }).click();
    await page.getByText("Project shop can now claim from").waitFor();
    assert.deepEqual(await pools("cut-team"), ["net", "shop-24"]);
    const grant = await call("GET", "/v1/projects/cut-team/pools/shop-24/grants");
    assert.deepEqual(grant.items.map((each) => each.spec.consumer), ["shop"]);
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "a release of many whose answer was lost goes on with the rest"(browser, assert) {
    await make("cut-release");
    await call("POST", "/v1/projects/cut-release/claim-batches", {
      claims: Array.from({ length: 5 }, (_, i) => ({ metadata: { name: `c-${i}` }, spec: { poolRef: { name: "net" }, prefixLength: 32 } })),
    });
    const { page, at, wrong } = await open(browser);
    await cut(page, "**/v1/projects/cut-release/claim-releases", "POST");
    await at("/projects/cut-release/unused?days=0");
    await page.getByLabel("All shown claims").check();
    await page.getByRole("button", { name: "Release 5 claims…" }).click();
    await page.getByRole("button", { name: "Release 5 claims", exact: true }).click();
    await page.getByText("The server did not respond").waitFor();
    await page.getByRole("button", { name: "Release 5 claims", exact: true }).click();
    await page.getByText("5 claims had been released before.").waitFor();
    await page.getByRole("heading", { name: "Release 5 claims?" }).waitFor();
    assert.equal((await claims("cut-release")).length, 0);
    await page.context().close();
    assert.deepEqual(wrong, []);
  },
};
