// The data of the tests: a company with pools, teams, claims, quotas and a full pool; and a project with many pools.
import { call, each } from "./harness.mjs";

export const project = "fernwood";
export const many = "orchard";

const pools = [
  { name: "corp", cidr: "10.0.0.0/8", description: "Private IPv4, a /12 for each region" },
  { name: "eu", parent: "corp", cidr: "10.0.0.0/12", labels: { geo: "eu" } },
  { name: "na", parent: "corp", cidr: "10.16.0.0/12", labels: { geo: "na" } },
  { name: "eu-prod", parent: "eu", cidr: "10.0.0.0/14", labels: { geo: "eu", env: "prod" }, description: "Production in Europe" },
  { name: "eu-stage", parent: "eu", cidr: "10.4.0.0/15", labels: { geo: "eu", env: "stage" } },
  {
    name: "eu-prod-apps",
    parent: "eu-prod",
    cidr: "10.1.0.0/20",
    labels: { env: "prod", role: "apps" },
    reservations: [{ first: 16, reason: "Gateways" }],
  },
  {
    name: "eu-prod-k8s",
    parent: "eu-prod",
    cidr: "10.0.0.0/16",
    labels: { env: "prod", role: "k8s" },
    reuseAfter: "1h",
    strategy: "Sparse",
    reservations: [{ first: 256, reason: "Load balancers" }],
  },
  { name: "eu-dns", parent: "eu-prod", cidr: "10.1.16.0/30", description: "Resolvers; four and no more" },
  { name: "na-prod", parent: "na", cidr: "10.16.0.0/14", labels: { geo: "na", env: "prod" } },
  { name: "corp-v6", cidr: "2001:db8::/32", description: "IPv6" },
  { name: "eu-v6", parent: "corp-v6", cidr: "2001:db8::/36" },
];

async function makePools(owner, list) {
  for (const { name, parent, cidr, description, labels, reservations, reuseAfter, strategy } of list) {
    await call("POST", `/v1/projects/${owner}/pools`, {
      metadata: { name, ...(labels ? { labels } : {}) },
      spec: {
        cidr,
        ...(parent ? { parentRef: { name: parent } } : {}),
        ...(description ? { description } : {}),
        ...(reservations ? { reservations } : {}),
        ...(reuseAfter ? { reuseAfter } : {}),
        ...(strategy ? { allocation: { strategy } } : {}),
      },
    });
  }
}

const claim = (name, pool, prefixLength, labels) =>
  call("PUT", `/v1/projects/${project}/claims/${name}`, {
    metadata: labels ? { labels } : {},
    spec: { poolRef: { name: pool }, prefixLength },
  });

export async function seed() {
  for (const name of [project, "shop", "search", many]) await call("POST", "/v1/projects", { metadata: { name } });
  await makePools(project, pools);
  const sizes = [29, 28, 30, 29, 32, 27];
  for (let i = 1; i <= 60; i++) await claim(`web-${i}`, "eu-prod-apps", sizes[i % sizes.length], { env: "prod", team: i % 3 ? "web" : "data" });
  for (let i = 1; i <= 30; i++) await claim(`nodes-${i}`, "eu-prod-k8s", i % 4 ? 24 : 22);
  for (let i = 1; i <= 4; i++) await claim(`dns-${i}`, "eu-dns", 32);
  for (const i of [3, 7, 12]) await call("DELETE", `/v1/projects/${project}/claims/nodes-${i}`);
  await claim("vip", "eu-v6", 64);
  await call("POST", `/v1/projects/${project}/alert-rules`, { metadata: { name: "nearly-full" }, spec: { about: "Pools", percent: 90 } });
  await call("PUT", `/v1/projects/${project}/quotas/total`, {
    spec: { scope: { ipFamily: "IPv4" }, limits: { addresses: "20000", claims: 100, pools: 30 } },
  });
}

/** Many pools: one in eight is a root. All others are below one root, which is the largest level that a tree can have. */
export async function seedMany(count) {
  await makePools(many, [{ name: "root", cidr: "10.0.0.0/8" }]);
  const roots = Math.floor(count / 8);
  const v4 = (i) => `10.${i >> 10}.${(i >> 2) & 255}.${(i & 3) * 64}/26`;
  const v6 = (i) => `2001:${(0xdb8 + (i >> 16)).toString(16)}:${(i & 0xffff).toString(16)}::/48`;
  await each(
    Array.from({ length: count }, (_, i) => i),
    (i) =>
      call(
        "POST",
        `/v1/projects/${many}/pools`,
        i < roots
          ? { metadata: { name: `r-${numbered(i)}` }, spec: { cidr: v6(i) } }
          : { metadata: { name: `p-${numbered(i - roots)}` }, spec: { parentRef: { name: "root" }, cidr: v4(i - roots) } },
      ),
  );
}

/** Single addresses in eight pools below their own root, claimed in batches. */
export async function seedClaims(count) {
  if (count === 0) return;
  const pools = Array.from({ length: 8 }, (_, i) => ({ name: `hosts-${i}`, parent: "hosts", cidr: `11.${i * 4}.0.0/14` }));
  await makePools(many, [{ name: "hosts", cidr: "11.0.0.0/8" }, ...pools]);
  const size = 250; // a request has 10 s, even on a slow machine
  const batches = Array.from({ length: Math.ceil(count / size) }, (_, i) => i);
  await each(
    batches,
    (batch) =>
      call("POST", `/v1/projects/${many}/claim-batches`, {
        claims: Array.from({ length: Math.min(size, count - batch * size) }, (_, i) => ({
          metadata: { name: `host-${numbered(batch * size + i)}` },
          spec: { poolRef: { name: `hosts-${batch % 8}` }, prefixLength: 32 },
        })),
      }),
    4,
  );
}

const numbered = (i) => String(i).padStart(6, "0");
