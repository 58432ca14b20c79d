// Bundles the console into internal/console/dist, from which the server embeds it: files with hashed names, and the page that names them.
import { build } from "esbuild";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = join(here, "../internal/console/dist");
const largest = 300_000; // bytes of all files together, compressed

await mkdir(out, { recursive: true });
for (const name of await readdir(out)) {
  if (name !== ".gitkeep") await rm(join(out, name), { recursive: true });
}

const result = await build({
  absWorkingDir: here,
  entryPoints: { console: "src/main.tsx", style: "src/style.css" },
  entryNames: "assets/[name]-[hash]",
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  metafile: true,
  loader: { ".svg": "dataurl" },
});

const files = Object.keys(result.metafile.outputs).map((path) => basename(path));
const named = (begin, end) => "/console/assets/" + files.find((name) => name.startsWith(begin) && name.endsWith(end));
const icon = "icon.svg";
const page = (await readFile(join(here, "src/index.html"), "utf8"))
  .replace("STYLE", named("style-", ".css"))
  .replace("SCRIPT", named("console-", ".js"))
  .replace("ICON", "/console/assets/" + icon);
await writeFile(join(out, "index.html"), page);
await writeFile(join(out, "assets", icon), await readFile(join(here, "src", icon)));

// The licences of the bundled packages go with the bundle.
const packages = new Set(Object.keys(result.metafile.inputs).flatMap((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []));
const licences = await Promise.all(
  [...packages].sort().map(async (name) => `${name}\n\n${await readFile(join(here, "node_modules", name, "LICENSE"), "utf8")}`),
);
await writeFile(join(out, "assets", "licences.txt"), licences.join("\n\n----\n\n"));

let total = gzipSync(page).length;
for (const name of await readdir(join(out, "assets"))) {
  const size = gzipSync(await readFile(join(out, "assets", name))).length;
  total += size;
  console.log(`${name} ${size} bytes compressed`);
}
console.log(`${total} bytes compressed in all`);
if (total > largest) throw new Error(`the console is larger than ${largest} bytes`);
