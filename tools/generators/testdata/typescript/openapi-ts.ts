// The client that @hey-api/openapi-ts generates from openapi.yaml.
import { client } from "./openapi-ts/client.gen.js";
import { createProject, getClass } from "./openapi-ts/sdk.gen.js";

client.setConfig({ baseUrl: process.env["CARVE_SERVER"]! });
const made = await createProject({ body: { metadata: { name: "openapi-ts" } } });
console.log(made.data?.metadata.name);
const refused = await getClass({ path: { project: "openapi-ts", className: "none" } });
console.log(refused.error?.code);
