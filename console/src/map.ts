// The map of a pool: the server sends runs of cells; this file expands them to cells and colours them.
import { api, ask, type Schemas } from "./api";
import { bits, formatCIDR, partOf, type Block } from "./net/cidr";

export type Run = Schemas["PoolMapCells"];
export type PoolMap = Schemas["PoolMap"];

export const stateNames: Record<Schemas["PoolMapState"], string> = {
  Free: "Free",
  Held: "Held by a claim",
  Retained: "Retained",
  CoolingDown: "Cooling down",
  ChildPool: "Child pool",
  Reserved: "Reserved",
  Mixed: "Cut up further",
};

/** Returns by how many bits a map is deeper than its block: to the next nibble boundary that shows enough at once. */
export function depthOf(within: Block): number {
  const target = Math.min(bits(within.family), Math.floor((within.length + 8) / 4) * 4);
  return Math.max(1, target - within.length);
}

export const loadMap = (project: string, pool: string, within: Block, signal: AbortSignal) => ask(api.GET("/v1/projects/{project}/pools/{pool}/map", {
  params: { path: { project, pool }, query: { within: formatCIDR(within), depth: depthOf(within) } }, signal,
}));

export interface Cell { index: number; block: Block; run: Run }

export function cellsOf(map: PoolMap, within: Block): Cell[] {
  return map.cells.flatMap((run) => Array.from({ length: run.count }, (_, i) => {
    const index = run.first + i;
    return { index, block: partOf(within, map.cellPrefixLength, index), run };
  }));
}

/** Returns the columns of the grid: 16, or fewer so that few cells form a compact picture. */
export const columnsOf = (count: number) => (count >= 64 ? 16 : count >= 16 ? 8 : Math.min(4, count));

export type Colouring = "state" | "project" | "class" | "age";
const hues = 8;

const ages: [number, string][] = [[1, "today"], [7, "this week"], [30, "this month"], [90, "90 days"], [365, "a year"], [Infinity, "older"]];

/** Returns the CSS class of a run and its word in the legend. */
export function paint(run: Run, by: Colouring, seen: Map<string, number>): { style: string; word: string } {
  if (by === "state" || !run.by || run.state === "Reserved") return { style: `is-${run.state}`, word: stateNames[run.state] };
  if (by === "age") {
    const days = (Date.now() - new Date(run.by.since).getTime()) / 86_400_000;
    const step = ages.findIndex(([limit]) => days < limit);
    return { style: `age-${step}`, word: ages[step]![1] };
  }
  const word = (by === "project" ? run.by.project : run.by.class) ?? (by === "class" ? "no class" : "unknown");
  if (!seen.has(word)) seen.set(word, seen.size % hues);
  return { style: `hue-${seen.get(word)}`, word };
}
