// The page of unused claims releases only what it shows, as it shows it.
import { call, open } from "./harness.mjs";

/** Creates a project with the pools net and other, and claims a-0 to a-3 in the one and b-0 and b-1 in the other. */
async function make(owner) {
  await call("POST", "/v1/projects", { metadata: { name: owner } });
  for (const [name, cidr] of [["net", "10.0.0.0/24"], ["other", "10.0.1.0/24"]]) {
    await call("POST", `/v1/projects/${owner}/pools`, { metadata: { name }, spec: { cidr } });
  }
  const claim = (name, pool) => ({ metadata: { name }, spec: { poolRef: { name: pool }, prefixLength: 32 } });
  await call("POST", `/v1/projects/${owner}/claim-batches`, {
    claims: [...["a-0", "a-1", "a-2", "a-3"].map((name) => claim(name, "net")), ...["b-0", "b-1"].map((name) => claim(name, "other"))],
  });
}

const left = async (owner) => (await call("GET", `/v1/projects/${owner}/claims`)).items.map((claim) => claim.metadata.name).sort();

export const unused = {
  async "a release covers only the claims that are shown when a filter changes"(browser, assert) {
    await make("unused-shown");
    const { page, at, wrong } = await open(browser);
    await at("/projects/unused-shown/unused?days=0");
    for (const name of ["a-0", "a-1", "b-0"]) await page.getByLabel(`Choose ${name}`).check();
    await page.getByRole("button", { name: "Release 3 claims…" }).waitFor();
    await page.getByRole("textbox", { name: "Pool" }).fill("other");
    await page.getByText("2 unused claims with 2 addresses among 2 claims.").waitFor();
    await page.getByRole("button", { name: "Release 1 claim…" }).waitFor();
    await page.getByRole("textbox", { name: "Pool" }).fill(""); // what was not shown is not chosen again
    await page.getByText("6 unused claims with 6 addresses among 6 claims.").waitFor();
    await page.getByRole("button", { name: "Release 1 claim…" }).waitFor();
    await page.getByLabel("Unused for").selectOption("90");
    await page.getByText("0 unused claims").waitFor();
    assert.equal(await page.getByRole("button", { name: /^Release/ }).count(), 0);
    await page.getByLabel("Unused for").selectOption("0");
    await page.getByLabel("All shown claims").check();
    await page.getByRole("textbox", { name: "Pool" }).fill("net");
    await page.getByRole("button", { name: "Release 4 claims…" }).click();
    await page.getByRole("button", { name: "Release 4 claims", exact: true }).click();
    await page.getByText("4 claims released.").waitFor();
    assert.deepEqual(await left("unused-shown"), ["b-0", "b-1"]);
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "a release skips claims that differ from those that are shown"(browser, assert) {
    await make("unused-changed");
    const { page, at, wrong } = await open(browser);
    const path = (name) => `/v1/projects/unused-changed/claims/${name}`;
    const change = async (name, body) => call("PATCH", path(name), body, { "If-Match": "*", "Content-Type": "application/merge-patch+json" });
    await at("/projects/unused-changed/unused?days=0");
    await page.getByLabel("All shown claims").check();
    await change("a-0", { metadata: { labels: { keep: "yes" } } }); // before the dialog opens
    await page.getByRole("button", { name: "Release 6 claims…" }).click();
    await page.getByRole("heading", { name: "Release 6 claims?" }).waitFor();
    await change("a-1", { metadata: { labels: { keep: "yes" } } });
    await call("PUT", `${path("a-2")}/consumers/vm-1`, { ttlSeconds: 3600 });
    await call("DELETE", path("b-0"));
    await call("DELETE", path("b-1"));
    await call("PUT", path("b-1"), { spec: { poolRef: { name: "net" }, prefixLength: 30 } }); // another claim of this name
    await page.getByRole("button", { name: "Release 6 claims", exact: true }).click();
    await page.getByText("1 claim released. 1 claim had been released before.").waitFor();
    await page.getByText("4 claims kept:").waitFor();
    await page.getByText("a-0: It has changed since this page showed it.").waitFor();
    await page.getByText("a-2: ").waitFor();
    assert.deepEqual(await left("unused-changed"), ["a-0", "a-1", "a-2", "b-1"]);
    await page.context().close();
    assert.deepEqual(wrong, []);
  },
};
