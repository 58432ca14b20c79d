// A browser that uses the server in CARVE_SERVER, with records of the page's requests and errors.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

export const server = process.env.CARVE_SERVER;
if (!server) throw new Error("CARVE_SERVER is not set: make console-test starts a server and sets it");

const program = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));

/** Root cannot use Chromium's sandbox. */
export const launch = () => chromium.launch({ executablePath: program, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });

/** Opens a page and records errors, violations of the policy, and requests to other origins. None of these may happen. */
export async function open(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-GB", timezoneId: "UTC", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000); // a safeguard: the machine may be busy
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) wrong.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.origin !== server && !["data:", "blob:"].includes(url.protocol)) wrong.push(`asked another origin: ${request.url()}`);
  });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`));
  });
  return { page, context, wrong, at: (path) => page.goto(`${server}/console${path}`) };
}

/** Sends a request to the API. */
export async function call(method, path, body, headers = {}) {
  const response = await fetch(server + path, {
    method,
    headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}

/** Runs work for each item, some at once. */
export async function each(items, work, atOnce = 8) {
  let next = 0;
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (next < items.length) await work(items[next++]);
  }));
}
