// The tree of pools as rows, with the state of what is open and what is loaded.
import type { Pool } from "./api";
import { byAddress, childrenOf, division, each, firstPools, getPool, ignoreGone, matches, nodeOf, rootsOf, type Node } from "./pools";

export interface Row {
  node: Node;
  depth: number;
  /** The position among the children of its parent, and their number. */
  place: number;
  of: number;
  /** A row for children that are not loaded yet, of this pool or of the roots. */
  more?: boolean;
}

const openAtMost = 12; // if a project has at most so many roots, they are open at the beginning
const openAgain = 100; // pools that are opened again when the user comes back
const again = 2000; // rows of a level that a reload loads at once
const pause = 80; // ms that rows stay on the screen before their figures are loaded

interface Level {
  nodes: Node[];
  cursor?: string | undefined;
  done: boolean;
  loading: boolean;
}

const empty = (done: boolean): Level => ({ nodes: [], done, loading: false });
const beyond: Node = { name: "", cidr: "" }; // stands for roots that are not loaded yet

export class Tree {
  readonly open: Set<string>;
  /** All pools of the project are loaded. */
  complete = false;
  error: unknown;
  private fresh = true;
  private restored: boolean;
  private roots: Level = empty(false);
  private below = new Map<string, Level>();
  private asked = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Starts the tree with these pools open. Without any it opens the roots, if they are few. */
  constructor(
    readonly project: string,
    private changed: () => void,
    open: string[] = [],
  ) {
    this.open = new Set(open.slice(0, openAgain));
    this.restored = open.length > 0;
  }

  /** Loads the tree, or loads again as much of it as it had. */
  async load() {
    const whole = this.fresh || this.complete ? await firstPools(this.project) : undefined;
    this.complete = whole !== undefined && whole.cursor === undefined;
    if (whole && this.complete) {
      this.take(whole.items);
    } else {
      const before = this.below;
      const { items, cursor } = await rootsOf(this.project, undefined, Math.min(this.roots.nodes.length, again));
      const nodes = items.map(nodeOf);
      this.roots = { nodes: cursor === undefined ? nodes.sort(byAddress) : nodes, cursor, done: cursor === undefined, loading: false };
      this.below = new Map();
      const shown = this.fresh ? [...this.open] : [...this.open].filter((name) => before.has(name));
      await each(shown, (name) => this.fetchBelow(name, before.get(name)?.nodes.length));
    }
    this.asked.clear();
    if (this.fresh && !this.restored && this.roots.done && this.roots.nodes.length <= openAtMost) {
      this.fresh = false;
      for (const root of this.roots.nodes) this.open.add(root.name);
      await Promise.all([...this.open].map((name) => this.fetchBelow(name)));
    }
    this.fresh = false;
    this.changed();
  }

  private take(pools: Pool[]) {
    const nodes = pools.map(nodeOf).sort(byAddress);
    this.below = new Map(nodes.map((node) => [node.name, empty(true)]));
    this.roots = empty(true);
    for (const node of nodes) ((node.parent && this.below.get(node.parent)) || this.roots).nodes.push(node);
    for (const node of nodes) node.divided = this.below.get(node.name)!.nodes.length > 0;
  }

  /** Reports whether a pool can be opened, as far as is known. */
  opens(node: Node): boolean {
    const below = this.below.get(node.name);
    if (below === undefined) return node.divided !== false;
    return !below.done || below.nodes.length > 0;
  }

  toggle(node: Node, open = !this.open.has(node.name)) {
    if (open) {
      this.open.add(node.name);
      void this.fetchBelow(node.name);
    } else {
      this.open.delete(node.name);
    }
    this.changed();
  }

  private async fetchBelow(name: string, atLeast = 0) {
    const below = this.below.get(name) ?? empty(false);
    this.below.set(name, below);
    await this.extend(below, async () => {
      const { items, cursor } = await childrenOf(this.project, name, below.cursor, Math.min(atLeast, again));
      const nodes = items.map(({ spec, status }) => nodeOf({ name: spec.childPoolRef!.name, cidr: status.allocatedCIDR, parent: name }));
      return { nodes, cursor };
    });
  }

  private fetchRoots() {
    return this.extend(this.roots, async () => {
      const { items, cursor } = await rootsOf(this.project, this.roots.cursor);
      return { nodes: items.map(nodeOf), cursor };
    });
  }

  /** Adds loaded nodes to a level, unless the level is complete or loading. */
  private async extend(level: Level, load: () => Promise<{ nodes: Node[]; cursor?: string | undefined }>) {
    if (level.done || level.loading) return;
    level.loading = true;
    try {
      const { nodes, cursor } = await load();
      for (const node of nodes) level.nodes.push(node);
      level.cursor = cursor;
      level.done = cursor === undefined;
    } catch (cause) {
      this.error = cause;
    } finally {
      level.loading = false;
    }
    this.changed();
  }

  /** Loads missing data of the rows on the screen: more of their level at once, and their figures after a pause. */
  look(rows: Row[]) {
    for (const row of rows) if (row.more) void (row.node === beyond ? this.fetchRoots() : this.fetchBelow(row.node.name));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.fill(rows.filter((row) => !row.more).map((row) => row.node)), pause);
  }

  /** Loads the missing figures of pools, and whether nearly full pools are divided among child pools. */
  async fill(nodes: Node[]) {
    const before = nodes.map((node) => node.divided);
    const bare = nodes.filter((node) => (!node.pool || this.doubtful(node)) && !this.asked.has(node.name));
    for (const node of bare) this.asked.add(node.name);
    await each(bare, async (node) => {
      node.pool ??= await getPool(this.project, node.name).catch(ignoreGone);
      if (!node.pool || !this.doubtful(node)) return;
      const answer = await division(this.project, node.pool).catch(ignoreGone);
      node.divided = answer === "divided" ? true : answer === "whole" ? false : undefined;
    });
    if (bare.length > 0 || nodes.some((node, i) => node.divided !== before[i])) this.changed();
  }

  /** Reports whether the figures of a pool leave open if it is full or divided among child pools. */
  private doubtful(node: Node): boolean {
    if (node.divided !== undefined || !node.pool) return false;
    const { capacity, utilizationPercent } = node.pool.status;
    const below = this.below.get(node.name);
    if (capacity.allocated === "0") node.divided = false;
    else if (below?.nodes.length) node.divided = true;
    return node.divided === undefined && utilizationPercent >= 80;
  }

  /** Returns the rows to show: the open part of the tree, or the matches of a filter with their parents. */
  rows(filter: string): Row[] {
    const rows: Row[] = [];
    const wanted = filter.trim() === "" ? undefined : this.found(filter);
    const walk = (level: Level, depth: number, above: Node) => {
      const shown = wanted ? level.nodes.filter((node) => wanted.has(node.name)) : level.nodes;
      const of = level.done ? shown.length : -1;
      for (const [i, node] of shown.entries()) {
        rows.push({ node, depth, place: i + 1, of });
        const below = wanted || this.open.has(node.name) ? this.below.get(node.name) : undefined;
        if (below) walk(below, depth + 1, node);
      }
      if (!level.done) rows.push({ node: above, depth, place: shown.length + 1, of, more: true });
    };
    walk(this.roots, 1, beyond);
    return rows;
  }

  private found(filter: string): Set<string> {
    const found = new Set<string>();
    const walk = (nodes: Node[]): boolean => {
      let any = false;
      for (const node of nodes) {
        const inside = walk(this.below.get(node.name)?.nodes ?? []);
        if (inside || matches(node, filter)) {
          found.add(node.name);
          any = true;
        }
      }
      return any;
    };
    walk(this.roots.nodes);
    return found;
  }
}
