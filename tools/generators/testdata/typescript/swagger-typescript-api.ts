// The client that swagger-typescript-api generates from openapi.yaml.
import { Api, type Problem } from "./swagger-typescript-api/api.js";

const api = new Api({ baseUrl: process.env["CARVE_SERVER"]! });
const made = await api.v1.createProject({ metadata: { name: "swagger-typescript-api" } });
console.log(made.data.metadata.name);
const refused: Problem = await api.v1.getClass("swagger-typescript-api", "none").then(
  () => Promise.reject(new Error("there is no such class")),
  (answer: { error: Problem }) => answer.error,
);
console.log(refused.code);
