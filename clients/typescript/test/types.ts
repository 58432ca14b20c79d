// Code that must not compile. `npm run check` fails if one of these lines has no error.
import { createCarve, isProblem, type Item } from "../src/index.js";

export async function wrong(): Promise<void> {
  const carve = createCarve({ baseUrl: "https://carve.example.com" });
  const params = { path: { project: "team-a" } };

  // @ts-expect-error a field that the contract does not have
  await carve.POST("/v1/projects/{project}/claims", { params, body: { metadata: { name: "web" }, spec: { prefixLenght: 24 } } });
  // @ts-expect-error a field of another type
  await carve.POST("/v1/projects/{project}/claims", { params, body: { metadata: { name: "web" }, spec: { prefixLength: "24" } } });
  // @ts-expect-error a body that lacks what must be said
  await carve.POST("/v1/projects/{project}/claims", { params, body: { metadata: { name: "web" } } });
  // @ts-expect-error no body
  await carve.POST("/v1/projects/{project}/claims", { params });
  // @ts-expect-error no project
  await carve.GET("/v1/projects/{project}/pools/{pool}", { params: { path: { pool: "prod" } } });
  // @ts-expect-error a path that the contract does not have
  await carve.GET("/v1/project/{project}", { params });
  // @ts-expect-error a method that the path does not have
  await carve.PUT("/v1/projects/{project}/claims", { params });
  // @ts-expect-error a filter that the list does not have
  carve.items("/v1/projects/{project}/members", { params: { ...params, query: { phase: "Ready" } } });
  // @ts-expect-error a value that the filter does not have
  carve.items("/v1/projects/{project}/pools", { params: { ...params, query: { phase: "ready" } } });
  // @ts-expect-error a list of which project?
  carve.items("/v1/projects/{project}/pools");
  // @ts-expect-error of which address?
  carve.items("/v1/projects/{project}/history", { params });
  // @ts-expect-error not a list
  carve.items("/v1/version");

  const { data } = await carve.GET("/v1/projects/{project}/claims/{claim}", { params: { path: { project: "team-a", claim: "web" } } });
  data.status.allocatedCIDR satisfies string;
  // @ts-expect-error an answer's field that the contract does not have
  void data.status.cidr;
  const block: Item<"/v1/projects/{project}/pools/{pool}/free"> = { cidr: "10.0.0.0/24" };
  void block;

  // @ts-expect-error a code that the contract does not have
  isProblem(undefined, "pool_full");
  const thrown: unknown = undefined;
  if (isProblem(thrown, "quota_exceeded")) thrown.problem.limit satisfies string;
  if (isProblem(thrown)) {
    // @ts-expect-error not every refusal has it
    thrown.problem.wantedPrefixLength satisfies number;
    if (thrown.problem.code === "pool_exhausted") thrown.problem.wantedPrefixLength satisfies number;
  }
  // @ts-expect-error an option that there is none of
  createCarve({ baseUrl: "https://carve.example.com", apikey: "carve_a_b" });
}
