// The tree of pools as rows: what is open, what was loaded, what is to be loaded.
import type { Pool } from "./api";
import { byAddress, childrenOf, each, firstPools, getPool, ignoreGone, matches, nodeOf, rootsOf, type Node } from "./pools";

export interface Row {
  node: Node;
  depth: number;
  /** Which one of how many among its parent's children. */
  place: number;
  of: number;
  /** A row that stands for what is still to be loaded below this pool. */
  more?: boolean;
}

const openAtMost = 12; // roots that are open at the beginning

interface Below { nodes: Node[]; cursor?: string | undefined; done: boolean; loading: boolean }

export class Tree {
  roots: Node[] = [];
  readonly open = new Set<string>();
  /** All pools of the project are here. */
  complete = false;
  looked = 0;
  private fresh = true;
  error: unknown;
  private below = new Map<string, Below>();
  private cursor: string | undefined;
  private asked = new Set<string>();

  constructor(readonly project: string, private changed: () => void) {}

  async load() {
    const { items, cursor } = await firstPools(this.project);
    this.cursor = cursor;
    this.complete = cursor === undefined;
    this.looked = items.length;
    this.asked.clear();
    this.below.clear();
    if (this.complete) this.take(items);
    else this.roots = await rootsOf(this.project, items);
    if (this.fresh && this.roots.length <= openAtMost) for (const root of this.roots) this.open.add(root.name);
    this.fresh = false;
    if (!this.complete) await Promise.all([...this.open].map((name) => this.fetchBelow(name)));
    this.changed();
  }

  /** Goes on looking for outermost pools among those with later names. */
  async lookFurther() {
    const { items, cursor } = await firstPools(this.project, this.cursor);
    this.cursor = cursor;
    this.looked += items.length;
    const known = new Set(this.roots.map((root) => root.name));
    const found = await rootsOf(this.project, items);
    this.roots = [...this.roots, ...found.filter((node) => !known.has(node.name))].sort(byAddress);
    this.changed();
  }

  get more() {
    return this.cursor !== undefined;
  }

  private take(pools: Pool[]) {
    const nodes = pools.map(nodeOf).sort(byAddress);
    const names = new Set(nodes.map((node) => node.name));
    this.roots = nodes.filter((node) => !node.parent || !names.has(node.parent));
    for (const node of nodes) {
      this.below.set(node.name, this.below.get(node.name) ?? { nodes: [], done: true, loading: false });
      if (!node.parent) continue;
      const siblings = this.below.get(node.parent) ?? { nodes: [], done: true, loading: false };
      siblings.nodes.push(node);
      this.below.set(node.parent, siblings);
    }
  }

  /** Whether a pool can be opened; of one that was never opened nobody knows. */
  opens(node: Node): boolean {
    const below = this.below.get(node.name);
    return below === undefined || !below.done || below.nodes.length > 0;
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

  async fetchBelow(name: string) {
    const below = this.below.get(name) ?? { nodes: [], done: false, loading: false };
    this.below.set(name, below);
    if (below.done || below.loading) return;
    below.loading = true;
    try {
      const { items, cursor } = await childrenOf(this.project, name, below.cursor);
      for (const item of items) {
        if (item.spec.childPoolRef) below.nodes.push({ name: item.spec.childPoolRef.name, cidr: item.status.allocatedCIDR, parent: name });
      }
      below.cursor = cursor;
      below.done = cursor === undefined;
    } catch (cause) {
      this.error = cause;
    } finally {
      below.loading = false;
    }
    this.changed();
  }

  /** Loads the figures of rows that are on the screen. */
  async fill(rows: Row[]) {
    for (const row of rows) if (row.more) void this.fetchBelow(row.node.name);
    const bare = rows.filter((row) => !row.more && !row.node.pool && !this.asked.has(row.node.name));
    for (const row of bare) this.asked.add(row.node.name);
    await each(bare, async ({ node }) => {
      node.pool = await getPool(this.project, node.name).catch(ignoreGone);
    });
    if (bare.length > 0) this.changed();
  }

  /** The rows to show: everything that is open, or what a filter finds and what is above it. */
  rows(filter: string): Row[] {
    const rows: Row[] = [];
    const wanted = filter.trim() === "" ? undefined : this.found(filter);
    const walk = (nodes: Node[], depth: number) => {
      const shown = wanted ? nodes.filter((node) => wanted.has(node.name)) : nodes;
      shown.forEach((node, i) => {
        rows.push({ node, depth, place: i + 1, of: shown.length });
        if (!wanted && !this.open.has(node.name)) return;
        const below = this.below.get(node.name);
        if (below) walk(below.nodes, depth + 1);
        if (below && !below.done) rows.push({ node, depth: depth + 1, place: below.nodes.length + 1, of: -1, more: true });
      });
    };
    walk(this.roots, 1);
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
    walk(this.roots);
    return found;
  }
}
