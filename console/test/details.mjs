// Details of pages that were once wrong.
import { call, open } from "./harness.mjs";

const owner = "details";
const claim = (name, spec, labels) => call("PUT", `/v1/projects/${owner}/claims/${name}`, { metadata: labels ? { labels } : {}, spec: { poolRef: { name: "net" }, ...spec } });

async function make() {
  await call("POST", "/v1/projects", { metadata: { name: owner } });
  await call("POST", `/v1/projects/${owner}/pools`, { metadata: { name: "net" }, spec: { cidr: "10.0.0.0/28", reservations: [{ first: 2, reason: "Gateways" }] } });
  await claim("web", { prefixLength: 29, ownerRef: { kind: "Service", name: "core", uid: "7" } }, { a: "1", b: "2", c: "3", d: "4", e: "5" });
  await claim("gone", { prefixLength: 32 });
  await call("DELETE", `/v1/projects/${owner}/claims/gone`);
}

export const details = {
  async "states, owners, labels and percentages are complete"(browser, assert) {
    await make();
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${owner}/pools/net?tab=claims`);
    await page.getByRole("row").filter({ hasText: "Gateways" }).locator(".badge", { hasText: "Reserved" }).waitFor();
    await page.getByRole("row").filter({ hasText: "web" }).locator(".badge.good", { hasText: "Bound" }).waitFor();
    const { utilizationPercent } = (await call("GET", `/v1/projects/${owner}/pools/net`)).status;
    assert.notEqual(utilizationPercent, Math.floor(utilizationPercent));
    await page.getByRole("img", { name: `Addresses: ${Number(utilizationPercent.toFixed(1))} % used` }).waitFor();
    await at(`/projects/${owner}/claims/web`);
    assert.match(await page.getByLabel("ipamctl", { exact: true }).textContent(), / --owner Service\/core\/7( |$)/);
    assert.match(await page.getByLabel("Terraform", { exact: true }).textContent(), /owner_ref +=.*"core"/);
    await at(`/projects/${owner}/unused?days=0`);
    await page.getByRole("row").filter({ hasText: "web" }).getByText("and 2 more").waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },
};
