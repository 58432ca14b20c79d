// A project with everything that the console can export: internal/cli/source/testdata/console.csv is its export.

/** Creates the project on a server. ask sends a request and returns {status, body}. */
export async function office(ask, name) {
  const make = async (path, body) => {
    const { status, body: said } = await ask("POST", path, body);
    if (status !== 201) throw new Error(`${path}: ${JSON.stringify(said)}`);
  };
  const at = `/v1/projects/${name}`;
  const metadata = (called, labels) => ({ name: called, ...(labels ? { labels } : {}) });
  const pool = (called, spec, labels) => make(`${at}/pools`, { metadata: metadata(called, labels), spec });
  const claim = (called, spec, labels) => make(`${at}/claims`, { metadata: metadata(called, labels), spec });
  await make("/v1/projects", { metadata: { name } });
  await make(`${at}/spaces`, { metadata: { name: "lab" }, spec: {} });
  await make(`${at}/classes`, { metadata: { name: "web" }, spec: { ipFamily: "IPv4" } });
  await make(`${at}/classes`, { metadata: { name: "vpc" }, spec: { ipFamily: "IPv4", poolPer: ["project", "network"], poolPrefixLength: 24 } });
  await pool("top", { cidr: "10.80.0.0/16", description: '=HYPERLINK("https://evil.example","a, b")' }, { site: "hq", "example.com/floor": "2", empty: "" });
  await pool("inner", { parentRef: { name: "top" }, cidr: "10.80.16.0/20", visibility: "shared", classNames: ["web"], description: "'quoted', \"twice\"\nand two lines" });
  await pool("bench", { spaceRef: { name: "lab" }, cidr: "10.80.0.0/16", description: "'=not a formula" });
  await pool("shelf", { parentRef: { name: "bench" }, cidr: "10.80.16.0/24", description: "Größe; 9″" });
  await pool("six", { cidr: "2001:db8::/48", description: "-" });
  await pool("backing", { cidr: "10.90.0.0/16", classNames: ["vpc"] });
  await claim("printer", { poolRef: { name: "inner" }, cidr: "10.80.16.9/32" }, { env: "prod", team: "a" });
  await claim("probe", { poolRef: { name: "shelf" }, cidr: "10.80.16.9/32" });
  await claim("front", { className: "web", prefixLength: 28 });
  await claim("node", { className: "vpc", scope: { network: "prod" }, prefixLength: 28 });
  await claim("wide", { poolRef: { name: "six" }, cidr: "2001:db8:0:1::/64" });
}
