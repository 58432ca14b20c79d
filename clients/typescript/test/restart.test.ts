import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { all } from "./between.js";
import { createCarve, type CarveError } from "../src/index.js";

/** Starts a server on the data of a folder. SIGKILL ends it without a shutdown, as a power failure does. */
async function start(folder: string, listen: string) {
  const flags = ["--auth=dev", `--listen=${listen}`, `--data-dir=${join(folder, "data")}`, "--log-level=error"];
  const { SERVER_PROGRAM = "", PATH } = process.env; // a server refuses unknown CARVE_ variables
  const server = spawn(SERVER_PROGRAM, flags, { env: { PATH }, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(server, "exit");
  const end = async (signal: NodeJS.Signals) => {
    server.kill(signal);
    await ended;
  };
  const line = await Promise.race([once(createInterface(server.stdout), "line"), ended.then(([code]) => assert.fail(`it ended with ${code}`))]);
  return { address: String(line).replace("listening on ", ""), end };
}

// The watch may or may not yield the second claim before the server is killed. Afterwards it continues where it was.
test("a watch continues after a server restart", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "carve-restart-"));
  chmodSync(folder, 0o755); // PostgreSQL runs as another user if this one is root
  // The restarted server needs the same port. On Linux it has an address on which no other program listens meanwhile.
  let { address, end: endServer } = await start(folder, process.platform === "linux" ? "127.0.0.2:0" : "127.0.0.1:0");
  t.after(async () => {
    await endServer("SIGTERM");
    rmSync(folder, { recursive: true });
  });
  const carve = createCarve({ baseUrl: `http://${address}`, retry: { firstPause: 1 } });
  const params = { path: { project: "team-a" } };
  await carve.POST("/v1/projects", { body: { metadata: { name: "team-a" } } });
  await carve.POST("/v1/projects/{project}/pools", { params, body: { metadata: { name: "prod" }, spec: { cidr: "10.20.0.0/16" } } });
  await carve.claim("team-a", "first", { poolRef: { name: "prod" }, prefixLength: 28 });

  const end = new AbortController();
  const copy = new Map<string, string>();
  let listed = 0;
  let restarted: Promise<void> | undefined;
  const restart = async () => {
    ({ address, end: endServer } = await start(folder, address));
    await carve.release("team-a", "first");
  };
  const onError = (_: CarveError) => (restarted ??= restart());
  for await (const event of carve.watch("IPClaim", { project: "team-a", signal: end.signal, waitSeconds: 1, onError })) {
    if (event.type === "Put") copy.set(event.name, event.object.status.allocatedCIDR);
    if (event.type === "Delete") copy.delete(event.name);
    if (event.type === "Synced") {
      listed++;
      await carve.claim("team-a", "second", { poolRef: { name: "prod" }, prefixLength: 28 });
      await endServer("SIGKILL");
    }
    if (copy.has("second") && !copy.has("first")) end.abort();
  }
  await restarted;
  const there = await all(carve.items("/v1/projects/{project}/claims", { params }));
  assert.deepEqual(
    [...copy],
    there.map((c) => [c.metadata.name, c.status.allocatedCIDR]),
  );
  assert.equal(listed, 1, "nothing was listed again");
});
