export { createCarve, type Answer, type Call, type Carve } from "./carve.js";
export { CarveError, CarveForeignAnswer, CarveNoAnswer, CarveProblem, isProblem, type Circumstances } from "./errors.js";
export type { CarveOptions } from "./options.js";
export type { Item, ListPath } from "./pages.js";
export { problemCodes, type Problem, type ProblemCode } from "./problem.js";
export { defaultRetry, type Repeat, type RetryPolicy } from "./retry.js";
export type { components, operations, paths } from "./schema.js";
export { contractVersion } from "./version.js";
export type { Watched, WatchEvent, WatchInit } from "./watch.js";
