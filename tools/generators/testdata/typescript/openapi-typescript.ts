// The types that openapi-typescript generates from openapi.yaml, used with openapi-fetch.
import createClient from "openapi-fetch";

import type { paths } from "./openapi-typescript/api.js";

const api = createClient<paths>({ baseUrl: process.env["CARVE_SERVER"]! });
const made = await api.POST("/v1/projects", { body: { metadata: { name: "openapi-typescript" } } });
console.log(made.data?.metadata.name);
const refused = await api.GET("/v1/projects/{project}/classes/{className}", {
  params: { path: { project: "openapi-typescript", className: "none" } },
});
console.log(refused.error?.code);
