// The client that orval generates from openapi.yaml, for fetch. Its addresses have no server.
import { createProject, getClass } from "./orval/api.js";

const plain = globalThis.fetch;
globalThis.fetch = (path, init) => plain(new URL(path as string, process.env["CARVE_SERVER"]), init);
const made = await createProject({ metadata: { name: "orval" } });
if (made.status !== 201) throw new Error(made.data.detail);
console.log(made.data.metadata.name);
const refused = await getClass("orval", "none");
if (refused.status === 200) throw new Error("there is no such class");
console.log(refused.data.code);
