// Import and export: round trip, refusals row by row, ten thousand rows, stopping and continuing.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { office } from "./office.mjs";
import { ask, watch } from "./servers.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const head = "kind,name,cidr,pool,space,class,scope,description,visibility,labels";

async function visitor(browser, server, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-GB", acceptDownloads: true, ...options });
  const { page, wrong } = await watch(context, server.url);
  const choose = (lines, name = "rows.csv") => page.getByLabel("CSV file").setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.isBuffer(lines) ? lines : Buffer.from(Array.isArray(lines) ? lines.join("\r\n") : lines) });
  const download = async (button) => {
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: button }).click()]);
    return { name: file.suggestedFilename(), text: await readFile(await file.path(), "utf8") };
  };
  const status = (pattern) => page.getByRole("status").filter({ hasText: pattern }).first().waitFor({ timeout: 120_000 });
  return { context, page, wrong, choose, download, status, at: (path) => page.goto(`${server.url}/console/projects/${path}`) };
}

const project = (server, name) => ask(server, "POST", "/v1/projects", { metadata: { name } });
const claims = async (server, name) => (await ask(server, "GET", `/v1/projects/${name}/claims?limit=500`)).body.items;

export const transfer = {
  async "an export imports elsewhere byte for byte, and no cell is a formula"(browser, assert, { server }) {
    const { context, page, wrong, choose, download, status, at } = await visitor(browser, server);
    await project(server, "from");
    await project(server, "into");
    const formula = '=HYPERLINK("https://evil.example","a, b")';
    await ask(server, "POST", "/v1/projects/from/pools", { metadata: { name: "top", labels: { env: "prod", a: "1" } }, spec: { cidr: "10.0.0.0/16", description: formula } });
    await ask(server, "POST", "/v1/projects/from/pools", { metadata: { name: "inner" }, spec: { parentRef: { name: "top" }, cidr: "10.0.16.0/20", visibility: "shared", description: "'quoted', \"twice\"\nand two lines" } });
    for (const n of [1, 2, 3]) await ask(server, "POST", "/v1/projects/from/claims", { metadata: { name: `c-${n}`, labels: { n: String(n) } }, spec: { poolRef: { name: "inner" }, prefixLength: 28 } });
    await at("from/export");
    const first = await download("Export as CSV");
    assert.equal(first.name, "from.csv");
    await status("2 pools and 3 claims are in from.csv");
    assert.ok(first.text.includes(`"'=HYPERLINK(""https`), first.text);
    await at("into/import");
    await choose(first.text);
    await status("5 rows, 5 new, 0 existing, 0 different and left unchanged, 0 refused. Nothing was changed yet");
    assert.equal((await claims(server, "into")).length, 0);
    await page.getByRole("button", { name: "Import 5 rows" }).click();
    await status("5 imported");
    await at("into/export");
    assert.equal((await download("Export as CSV")).text, first.text);
    await at("into/import");
    await choose(first.text);
    await status("5 rows, 5 existing");
    assert.equal(await page.getByRole("button", { name: /^Import/ }).count(), 0, "there is nothing to do");
    await context.close();
    assert.deepEqual(wrong, []);
  },

  async "the export is the table that the tests of ipamctl import"(browser, assert, { server }) {
    const { context, wrong, download, at } = await visitor(browser, server);
    await office((...of) => ask(server, ...of), "office");
    await at("office/export");
    const table = new URL("../../internal/cli/source/testdata/console.csv", import.meta.url);
    assert.equal((await download("Export as CSV")).text.replace(/(?<=vpc-)[0-9a-f]{12}/g, "0123456789ab"), await readFile(table, "utf8"));
    await context.close();
    assert.deepEqual(wrong, []);
  },

  async "each row and the report show the row's outcome"(browser, assert, { server }) {
    const { context, page, wrong, choose, download, status, at } = await visitor(browser, server);
    await project(server, "rows");
    await ask(server, "POST", "/v1/projects/rows/pools", { metadata: { name: "p" }, spec: { cidr: "10.0.0.0/24" } });
    await ask(server, "POST", "/v1/projects/rows/claims", { metadata: { name: "there", labels: { env: "prod" } }, spec: { poolRef: { name: "p" }, cidr: "10.0.0.0/28" } });
    await ask(server, "POST", "/v1/projects/rows/claims", { metadata: { name: "same" }, spec: { poolRef: { name: "p" }, cidr: "10.0.0.16/28" } });
    await at("rows/import");
    await choose([
      head, "claim,there,10.0.0.0/28,p,,,,,,env=test", "claim,same,10.0.0.16/28,p,,,,,,", "claim,fresh,/28,p,,,,,,", "claim,taken,10.0.0.8/29,p,,,,,,", "claim,outside,10.9.0.0/28,p,,,,,,",
      "claim,nowhere,/28,gone,,,,,,", "claim,Bad Name,/28,p,,,,,,", "claim,fresh,/28,p,,,,,,", "router,x,/28,p,,,,,,", "claim,one,10.0.0.64/26,p,,,,,,", "claim,two,10.0.0.80/28,p,,,,,,",
    ]);
    await status("11 rows, 2 new, 1 existing, 1 different");
    const row = (text) => page.getByRole("row").filter({ hasText: text });
    await row("there").getByText("labels: env=prod in Carve, env=test in the file").waitFor();
    await row("taken").getByText("block_taken").waitFor();
    await row("outside").getByText("never_satisfiable").or(row("outside").getByText("invalid_argument")).first().waitFor();
    await row("nowhere").getByText("not_found").waitFor();
    await row("Bad Name").getByText("lower-case").waitFor();
    await row("two").getByText("overlaps the block of one in line 11").waitFor();
    await page.getByRole("button", { name: "Refused 7" }).click();
    assert.equal(await page.getByRole("row").count(), 8);
    await page.getByRole("button", { name: "Import 2 rows" }).click();
    await status("2 imported");
    await page.getByRole("button", { name: "Imported 2" }).click();
    await row("fresh").getByText("Imported").waitFor();
    await row("fresh").getByText("Got 10.0.0.32/28.").waitFor();
    const report = await download("Download the report");
    assert.equal(report.text.split("\r\n")[0], `${head},outcome,detail`);
    assert.match(report.text, /claim,fresh,\/28,p,+imported,/);
    assert.match(report.text, /claim,taken,.*,refused,.*block_taken/);
    await page.getByRole("button", { name: "Another file" }).click();
    await choose(report.text, "report.csv");
    await status("report.csv: 11 rows, 3 existing");
    await context.close();
    assert.deepEqual(wrong, []);
  },

  async "an invalid file is refused with a reason"(browser, assert, { server }) {
    const { context, page, wrong, choose, at } = await visitor(browser, server);
    await project(server, "none");
    await at("none/import");
    const row = "claim,a,/28,p,,,,,,";
    const files = [
      ["", "The file is empty"], ["name;cidr;vlan\nx;y;z", "unknown columns: vlan"], ["name,cidr\nx,y", "no column kind"],
      [`${head}\n"open`, "Line 2, column 1: a quotation mark is not closed"], [`${head}\nclaim,b"c,/28,p,,,,,,`, "Line 2, column 8: a quotation mark inside a field"],
      [`${head}\n"a"b,c`, "Line 2, column 1: text follows the closing quotation mark"], ["\0\u0001\u0002,\n", "not a text file"],
      [Buffer.concat([Buffer.from(`${head}\n${row}\nclaim,gr`), Buffer.from([0xfc]), Buffer.from("n,/28,p,,,,,,")]), "not UTF-8 text (line 3)"],
      [Buffer.from(`${head}\n${row}`, "utf16le"), "UTF-16 without a byte order mark"],
      [`${head}\n${row}\n${head}\n`, "Line 3 names the columns again: the file has two tables"], [`${head},name\n${row},b`, "names the column name twice"],
    ];
    for (const [text, why] of files) {
      await choose(text);
      await page.getByRole("alert").getByText(why).waitFor();
      await page.getByRole("alert").getByText("The file was not read").waitFor();
    }
    await choose(Buffer.from(`\ufeff${head}\n${row}\nclaim,c,/28\nclaim,d,/28,p,,,,,,a=1 a=2`, "utf16le"));
    await page.getByRole("row").filter({ hasText: "The line has 3 fields, but the first line has 10." }).waitFor();
    await page.getByRole("row").filter({ hasText: "labels has a twice." }).waitFor();
    await context.close();
    assert.deepEqual(wrong, []);
  },

  async "ten thousand rows: the page responds, and a stopped import continues"(browser, assert, { server }) {
    const { context, page, wrong, choose, status, at } = await visitor(browser, server);
    await project(server, "large");
    const lines = [head, "pool,big,10.0.0.0/8,,,,,,,"];
    for (let i = 0; i < 10_000; i++) lines.push(`claim,c-${i},10.${i >> 12}.${(i >> 4) & 255}.${(i & 15) * 16}/28,big,,,,,,team=t${i % 7}`);
    await at("large/import");
    await page.evaluate(() => {
      globalThis.longest = 0;
      let last = performance.now();
      const beat = () => { const now = performance.now(); globalThis.longest = Math.max(globalThis.longest, now - last); last = now; setTimeout(beat, 10); };
      beat();
    });
    const began = Date.now();
    await choose(lines);
    await status("10,001 rows, 10,001 new");
    const compared = Date.now() - began;
    await page.getByRole("button", { name: "Import 10,001 rows" }).click();
    await page.waitForFunction(() => Number(document.querySelector("progress")?.value) >= 1500);
    await page.getByRole("button", { name: "Stop" }).click();
    await status(/imported, .* new/);
    const longest = Math.round(await page.evaluate(() => globalThis.longest)); // times are printed and do not fail the test
    const before = (await page.getByRole("status").filter({ hasText: "rows.csv" }).textContent()).match(/([\d,]+) imported/)[1];
    await page.reload();
    await choose(lines);
    await status(/rows.csv: 10,001 rows, [\d,]+ new, [1-9][\d,]* existing/);
    await page.getByRole("button", { name: /^Import/ }).click();
    await status(/10,001 rows, [\d,]+ imported, [\d,]+ existing, 0 different and left unchanged, 0 refused/);
    console.log(`  10,001 rows: compared after ${compared} ms, stopped after ${before}, all after ${Date.now() - began} ms; the page was busy for ${longest} ms at most`);
    const stats = await ask(server, "GET", "/v1/projects/large/pools/big");
    assert.equal(stats.body.status.capacity.allocated, String(10_000 * 16));
    await context.close();
    assert.deepEqual(wrong, []);
  },

  async "the export of all rows can be cancelled and completed"(browser, assert, { server }) {
    const { context, page, wrong, download, status, at } = await visitor(browser, server);
    await at("large/export");
    let release;
    const held = new Promise((done) => { release = done; });
    await page.route("**/claims?*", async (route) => { await held; await route.continue().catch(() => {}); });
    await page.getByRole("button", { name: "Export as CSV" }).click();
    await status("read so far");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
    release();
    await page.unroute("**/claims?*");
    const file = await download("Export as CSV");
    assert.equal(file.text.trimEnd().split("\r\n").length, 10_002);
    await context.close();
    assert.deepEqual(wrong, []);
  },

  async "an import waits for a server that refuses for a while"(browser, assert, { server }) {
    const { context, page, wrong, choose, status, at } = await visitor(browser, server);
    await project(server, "waits");
    await ask(server, "POST", "/v1/projects/waits/pools", { metadata: { name: "p" }, spec: { cidr: "10.0.0.0/24" } });
    await at("waits/import");
    let refused = 0;
    await page.route("**/claim-batches*", (route) => (refused++ % 3 < 2
      ? route.fulfill({ status: 429, contentType: "application/problem+json", body: JSON.stringify({ title: "Too many", status: 429, detail: "Wait.", code: "rate_limited" }) }) : route.continue()));
    await choose([head, "claim,a,/28,p,,,,,,", "claim,b,/28,p,,,,,,"]);
    await status("2 new");
    await page.getByRole("button", { name: "Import 2 rows" }).click();
    await status("2 imported");
    assert.equal(refused, 6);
    assert.equal((await claims(server, "waits")).length, 2);
    await context.close();
    assert.deepEqual(wrong, []);
  },

  async "by keyboard alone, in both schemes, on a phone"(browser, assert, { server }) {
    const found = [];
    for (const options of [{ colorScheme: "light" }, { colorScheme: "dark", viewport: { width: 375, height: 740 } }]) {
      const { context, page, wrong, choose, status, at } = await visitor(browser, server, options);
      const look = async (name) => {
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
        for (const v of violations) found.push(`${name}: ${v.id}: ${v.nodes[0].html.slice(0, 160)}`);
        const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (width > 0) found.push(`${name} is ${width} px too wide`);
      };
      await at("rows/export");
      await page.getByRole("heading", { name: "Export", level: 1 }).waitFor();
      await look("export");
      await page.getByRole("button", { name: "Export as CSV" }).focus();
      const [file] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
      assert.equal(file.suggestedFilename(), "rows.csv");
      await at("rows/import");
      await page.getByLabel("CSV file").focus();
      await look("import");
      await choose([head, "claim,there,10.0.0.0/28,p,,,,,,env=test", "claim,keyed,/30,p,,,,,,", "claim,x,/1,p,,,,,,"]);
      await status("3 rows");
      await look("rows");
      await page.getByRole("button", { name: /^Import 1 row|^Refused/ }).first().focus();
      await page.keyboard.press("Enter");
      await status(/imported|3 rows/);
      await context.close();
      assert.deepEqual(wrong, []);
    }
    assert.deepEqual(found, []);
  },
};
