// Swagger UI on an empty server: it opens, loads nothing from other origins, and its first operations work at the first click.
import { watch } from "./servers.mjs";

export const swagger = {
  async "the first operations are seen at once, and work as they are"(browser, assert, { server }) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const { page, wrong } = await watch(context, server.url);
    await page.goto(`${server.url}/docs/`);
    const operations = page.locator(".opblock");
    await operations.first().waitFor();
    const top = await operations.first().evaluate((e) => e.getBoundingClientRect().top + scrollY);
    assert.ok(top < 700, `the first operation is ${Math.round(top)} px down`);
    const done = [];
    for (let i = 0; i < 3; i++) {
      const operation = operations.nth(i);
      const id = await operation.getAttribute("id");
      await operation.locator(".opblock-summary-control").click();
      const tryIt = operation.getByRole("button", { name: "Try it out" });
      await operation.getByRole("button", { name: "Execute" }).or(tryIt).first().waitFor();
      if (await tryIt.count() > 0) await tryIt.click();
      // A change needs If-Match. The contract has it as optional so that its absence gets a problem of its own.
      const filled = await operation.locator(".parameters tr").evaluateAll((rows) => rows
        .filter((row) => !row.querySelector(".required") && !/^If-Match/.test(row.textContent) && [...row.querySelectorAll("input, textarea")].some((e) => e.value !== ""))
        .map((row) => row.textContent));
      assert.deepEqual(filled, [], `${id}: optional parameters are filled in`);
      const answered = page.waitForResponse((response) => response.url().includes("/v1/"));
      await operation.getByRole("button", { name: "Execute" }).click();
      const response = await answered;
      await operation.locator(".live-responses-table .response-col_status").getByText(String(response.status())).waitFor();
      done.push(`${id} ${response.status()}`);
      await operation.locator(".opblock-summary-control").click();
    }
    for (const each of done) assert.match(each, / 20[0-4]$/, done.join(", "));
    assert.equal(await page.locator("main").count(), 1, "the page has one main landmark");
    await page.getByRole("combobox", { name: "Server" }).waitFor();
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor + getComputedStyle(document.documentElement).backgroundColor);
    const light = await ground();
    await page.emulateMedia({ colorScheme: "dark" });
    await page.locator("html.dark-mode").waitFor();
    assert.notEqual(await ground(), light);
    await page.emulateMedia({ colorScheme: "light" });
    await page.getByRole("button", { name: "Authorize" }).first().click();
    await page.locator(".auth-container").getByText(/API key/).first().waitFor(); // it explains how to get a key
    await context.close();
    assert.deepEqual(wrong, []);
  },
};
