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
    await cut(page, "**/v1/projects/cut-release/claims/*", "DELETE");
    await at("/projects/cut-release/unused?days=0");
    await page.getByLabel("All shown claims").check();
    await page.getByRole("button", { name: "Release 5 claims…" }).click();
    await page.getByRole("button", { name: "Release 5 claims", exact: true }).click();
    await page.getByText("The server did not respond").waitFor();
    await page.getByRole("button", { name: /^(Continue|Release 5 claims)$/ }).click();
    await page.getByText("1 claim had been released before.").waitFor();
    await page.getByRole("heading", { name: "Release 5 claims?" }).waitFor();
    assert.equal((await claims("cut-release")).length, 0);
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "a change and a deletion whose answers were lost succeed, also if the page learns it only later"(browser, assert) {
    await make("lost-change");
    const { page, at, wrong } = await open(browser);
    const row = page.getByRole("row").filter({ hasText: "mine" });
    const save = page.getByRole("button", { name: "Save" });
    /** Presses a button whose first answer is lost. If the object cannot be read then either, presses again. */
    const press = async (button, path, method, down) => {
      const pattern = `**/v1/projects/lost-change/${path}/mine`;
      let seen = 0;
      await page.route(pattern, async (route) => {
        const its = route.request().method();
        if (its === method && seen++ === 0) await route.fetch();
        else if (!(its === "GET" && down && seen === 1)) return route.continue();
        return route.abort("connectionreset");
      });
      await button.click();
      if (down) {
        await page.getByText("The server did not respond").waitFor();
        await button.click();
      }
      await page.getByRole("dialog").waitFor({ state: "detached" });
      assert.equal(seen, down ? 2 : 1);
      await page.unroute(pattern);
    };
    for (const down of [false, true]) {
      await at("/projects/lost-change/quotas");
      await page.getByRole("button", { name: "New quota" }).click();
      await page.getByRole("textbox", { name: "Name" }).fill("mine");
      await page.getByLabel("Counts").selectOption("pool");
      await page.getByRole("textbox", { name: "Pool", exact: true }).fill("net");
      await page.getByRole("textbox", { name: "Claims" }).fill("4");
      await press(save, "quotas", "PUT", down);
      await row.getByText("0 / 4").waitFor();
      await page.getByRole("button", { name: "Change mine" }).click();
      await page.getByRole("textbox", { name: "Claims" }).fill("");
      await page.getByRole("textbox", { name: "Addresses" }).fill("500");
      await press(save, "quotas", "PUT", down);
      await row.getByText("0 / 500").waitFor();
      await page.getByRole("button", { name: "Change mine" }).click();
      await page.getByRole("button", { name: "Delete…" }).click();
      await press(page.getByRole("button", { name: "Delete the quota" }), "quotas", "DELETE", down);
      await row.waitFor({ state: "detached" });

      await call("POST", "/v1/projects/lost-change/alert-rules", { metadata: { name: "mine" }, spec: { about: "Pools", percent: 90, resourceName: "net" } });
      await at("/projects/lost-change/alerts");
      await page.getByRole("button", { name: "Change mine" }).click();
      await page.getByLabel("When").selectOption("runway");
      await page.getByLabel("Only the pool").fill("");
      await press(save, "alert-rules", "PATCH", down);
      await row.getByText("full within 7 days").waitFor();
      await page.getByRole("button", { name: "Change mine" }).click();
      await press(page.getByRole("button", { name: "Delete the rule" }), "alert-rules", "DELETE", down);
      await row.waitFor({ state: "detached" });

      await call("POST", "/v1/projects/lost-change/claims", { metadata: { name: "mine" }, spec: { poolRef: { name: "net" }, prefixLength: 30 } });
      await at("/projects/lost-change/claims/mine");
      await page.getByRole("button", { name: "Release" }).click();
      await press(page.getByRole("button", { name: /^Release 10/ }), "claims", "DELETE", down);
      await page.getByRole("heading", { name: "Claims" }).waitFor();

      await call("POST", "/v1/projects/lost-change/pools", { metadata: { name: "mine" }, spec: { parentRef: { name: "net" }, prefixLength: 24, visibility: "shared" } });
      await call("PUT", "/v1/projects/lost-change/pools/mine/grants/shop");
      await at("/projects/lost-change/pools/mine");
      await call("DELETE", "/v1/projects/lost-change/pools/mine/grants/shop");
      await page.getByRole("button", { name: "Delete" }).click();
      await press(page.getByRole("button", { name: "Delete the pool" }), "pools", "DELETE", down);
      await page.getByRole("heading", { name: "net" }).waitFor();
    }
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "a claim that another user changed first is a conflict also after a lost answer"(browser, assert) {
    await make("lost-race");
    await call("PUT", "/v1/projects/lost-race/quotas/mine", { spec: { limits: { claims: 4 } } });
    const { page, at } = await open(browser);
    await at("/projects/lost-race/quotas");
    await page.getByRole("button", { name: "Change mine" }).click();
    await page.getByRole("textbox", { name: "Claims" }).fill("5");
    await page.route("**/v1/projects/lost-race/quotas/mine", (route) => route.abort("connectionreset"));
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The server did not respond").waitFor();
    await page.unroute("**/v1/projects/lost-race/quotas/mine");
    await call("PUT", "/v1/projects/lost-race/quotas/mine", { spec: { limits: { claims: 6 } } });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("It was changed meanwhile").waitFor();
    assert.equal((await call("GET", "/v1/projects/lost-race/quotas/mine")).spec.limits.claims, 6);
    await page.context().close();
  },

  async "a name whose answer was lost is not reported as taken"(browser, assert) {
    await make("lost-named");
    const { page, at } = await open(browser);
    for (const [kind, path, form, button] of [["claim", "claims", "new-claim?pool=net", "Claim"], ["pool", "pools", "new-pool?parent=net", "Create pool"]]) {
      await cut(page, `**/v1/projects/lost-named/${path}`, "POST");
      await at(`/projects/lost-named/${form}`);
      await page.getByRole("textbox", { name: "Name" }).fill("mine");
      await page.getByLabel("Size").fill("25");
      await page.getByRole("button", { name: button, exact: true }).click();
      const hint = page.getByText(`The response to this request was lost. Press ${button} again`);
      for (const reload of [false, true]) {
        if (reload) await page.reload();
        await hint.waitFor();
        await page.waitForTimeout(1500); // the feed reports the new object, and the page reads it
        assert.equal(await page.locator(".field.wrong").count(), 0, kind);
        for (const text of ["already", "Correct the marked", "Would get", "Would be"]) assert.equal(await page.getByText(text).count(), 0, `${kind}: ${text}`);
      }
      await page.getByRole("textbox", { name: "Name" }).fill("mine-2"); // other contents: another request
      await page.getByText(/^Would/).waitFor();
      await page.getByRole("textbox", { name: "Name" }).fill("mine");
      await hint.waitFor();
      await page.getByRole("button", { name: button, exact: true }).click();
      await page.getByRole("heading", { name: "mine", exact: true }).waitFor();
    }
    assert.equal((await claims("lost-named")).length, 1);
    assert.deepEqual(await pools("lost-named"), ["mine", "net"]);
    await page.context().close();
  },
};
