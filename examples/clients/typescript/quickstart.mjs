// Quick start: a project, a pool, a block of it, and what a full pool says.
import { createCarve, isProblem } from "@carve-ipam/client";

const carve = createCarve({
  baseUrl: process.env.CARVE_SERVER ?? "http://127.0.0.1:8080",
  apiKey: process.env.CARVE_API_KEY, // a server with --auth=dev needs none
});

const made = await carve.POST("/v1/projects", { body: { metadata: { generateName: "quickstart-" } } });
const project = made.data.metadata.name;
await carve.POST("/v1/projects/{project}/pools", {
  params: { path: { project } },
  body: { metadata: { name: "prod" }, spec: { cidr: "10.20.0.0/23" } },
});

// A lost connection, a restart or a full queue on the way is repeated: there is one block for each name.
for (const name of ["web", "db", "cache"]) {
  try {
    const block = await carve.claim(project, name, { poolRef: { name: "prod" }, prefixLength: 24 });
    console.log(`${name}: ${block}`);
  } catch (error) {
    if (!isProblem(error, "pool_exhausted", "exhausted_by_cooldown")) throw error;
    console.log(`${name}: ${error.code}`);
  }
}

for await (const claim of carve.items("/v1/projects/{project}/claims", { params: { path: { project } } })) {
  await carve.release(project, claim.metadata.name);
  console.log(`${claim.metadata.name}: released ${claim.status.allocatedCIDR}`);
}
