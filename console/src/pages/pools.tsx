// The prefix tree of a project: pools below their parents, loaded level by level.
import type { ComponentChild } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { api, ask, isGone, pagesOf, type Pool } from "../api";
import { plural } from "../format";
import { useKept } from "../kept";
import { formatCIDR, formatCount, isPartial, parseBlock } from "../net/cidr";
import { useCalm, useChanges, useLoad } from "../load";
import { nodeOf, spaceOf, type Node } from "../pools";
import { go, goQuery, Link, query, to } from "../router";
import { searchFor } from "../search";
import { may } from "../session";
import { Tree, type Row } from "../tree";
import { Badge, Bar, Empty, Heading, Waiting } from "../ui/parts";
import { Trouble } from "../ui/trouble";
import { Virtual } from "../ui/virtual";

const rowHeight = 34;

export function PoolsPage({ project }: { project: string }) {
  const [version, draw] = useReducer((n: number) => n + 1, 0);
  const open = useKept<string[]>("open", () => [], false);
  const tree = useMemo(() => new Tree(project, () => draw(0), open.value), [project]);
  const [state, setState] = useState<{ ready: boolean; error?: unknown }>({ ready: false });
  useEffect(() => { if (state.ready) open.set([...tree.open]); }, [version]);
  const filter = query.value.get("filter") ?? "";
  const load = useCallback(() => {
    tree.load().then(
      () => setState({ ready: true }),
      (error: unknown) => setState((was) => ({ ...was, error })),
    );
  }, [tree]);
  useEffect(load, [load]);
  useChanges(["IPPool"], load, tree.complete ? 1000 : 5000);
  return (
    <>
      <Heading title="Pools" note="Each pool is below its parent. A violet bar counts the whole blocks of child pools; a blue or red bar counts used addresses.">
        {may("provider", project) && !isGone(state.error) && (
          <Link class="button primary" to={to.newPool(project)}>
            New pool
          </Link>
        )}
      </Heading>
      <input
        type="search"
        class="filter"
        aria-label="Filter by name, CIDR or label"
        placeholder="Filter by name, CIDR, address or label"
        value={filter}
        onInput={(e) => goQuery({ filter: e.currentTarget.value })}
      />
      {state.error !== undefined && <Trouble error={state.error} retry={load} />}
      {tree.error !== undefined && <Trouble error={tree.error} retry={load} />}
      {!state.ready && state.error === undefined && <Waiting rows={10} />}
      {state.ready && (
        filter.trim() !== "" && !tree.complete
          ? <Found project={project} text={filter} />
          : <Rows tree={tree} version={version} filter={filter} />
      )}
    </>
  );
}

/** Shows the rows of a tree. The version changes with the tree, which stays the same object. */
function Rows({ tree, version, filter }: { tree: Tree; version: number; filter: string }) {
  const rows = useMemo(() => tree.rows(filter), [tree, version, filter]);
  const [at, setAt] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const focused = Math.min(at, rows.length - 1);
  const follows = useRef(false); // the row gets the focus when it is drawn
  const move = (next: number) => {
    follows.current = true;
    setAt(Math.max(0, Math.min(rows.length - 1, next)));
  };
  const bring = () => {
    const row = follows.current ? box.current?.querySelector<HTMLElement>(`[aria-rowindex="${focused + 2}"]`) : undefined;
    if (!row) return;
    follows.current = false;
    row.focus();
  };
  useLayoutEffect(bring);
  const draw = useCallback(
    (i: number, top: number): ComponentChild => (
      <TreeRow key={rowKey(rows[i]!)} row={rows[i]!} index={i} top={top} tree={tree} focused={i === focused} focus={() => setAt(i)} />
    ),
    [rows, focused],
  );
  const seen = (first: number, last: number) => {
    bring();
    tree.look(rows.slice(first, last));
  };
  if (rows.length === 0) {
    return filter ? <Empty>No pool matches “{filter}”.</Empty> : (
      <Empty>
        <p>There are no pools yet. A pool is a block from which others are carved.</p>
        {may("provider", tree.project) && (
          <Link class="button primary" to={to.newPool(tree.project)}>
            Create the first pool
          </Link>
        )}
      </Empty>
    );
  }
  return (
    <div
      ref={box}
      class="tree"
      role="treegrid"
      aria-label="Pools"
      aria-rowcount={rows.length + 1}
      onKeyDown={(e) => onKey(e, tree, rows, focused, move)}>
      <div class="tree-head" role="row">
        <span role="columnheader">Pool</span>
        <span role="columnheader">Block</span>
        <span role="columnheader">Used</span>
        <span role="columnheader" class="right">Free addresses</span>
      </div>
      <Virtual count={rows.length} rowHeight={rowHeight} keepInView={at} className="rows" seen={seen} row={draw} />
    </div>
  );
}

const rowKey = (row: Row) => (row.more ? "more:" : "") + row.node.name;

function onKey(e: KeyboardEvent, tree: Tree, rows: Row[], at: number, move: (to: number) => void) {
  const row = rows[at];
  if (!row || !(e.target instanceof HTMLElement) || e.target.getAttribute("role") !== "row") return;
  const open = tree.open.has(row.node.name);
  const actions: Record<string, () => void> = {
    ArrowDown: () => move(at + 1),
    ArrowUp: () => move(at - 1),
    PageDown: () => move(at + 15),
    PageUp: () => move(at - 15),
    Home: () => move(0),
    End: () => move(rows.length - 1),
    Enter: () => { if (!row.more) go(to.pool(tree.project, row.node.name)); },
    ArrowRight: () => { if (tree.opens(row.node)) open ? move(at + 1) : tree.toggle(row.node, true); },
    ArrowLeft: () => (open ? tree.toggle(row.node, false) : move(parentAt(rows, at))),
  };
  const action = actions[e.key];
  if (!action) return;
  e.preventDefault();
  action();
}

function parentAt(rows: Row[], at: number): number {
  for (let i = at - 1; i >= 0; i--) if (rows[i]!.depth < rows[at]!.depth) return i;
  return at;
}

interface TreeRowProps {
  row: Row;
  index: number;
  top: number;
  tree: Tree;
  focused: boolean;
  focus: () => void;
}

function TreeRow({ row, index, top, tree, focused, focus }: TreeRowProps) {
  const { node } = row;
  const open = tree.open.has(node.name);
  const opens = tree.opens(node);
  const size = row.of < 0 ? {} : { "aria-setsize": row.of };
  return (
    <div class="tree-row" style={{ top: `${top}px` }} role="row" aria-level={row.depth} aria-posinset={row.place} {...size} aria-rowindex={index + 2}
      aria-expanded={!row.more && opens ? open : undefined} tabIndex={focused ? 0 : -1} onFocus={focus}>
      <span role="gridcell" class="name">
        <span class="indent" style={{ width: `${(row.depth - 1) * 20}px` }} />
        {row.more ? <span class="note">Loading more {node.name ? `below ${node.name}` : "pools"}…</span> : (
          <>
            <button type="button" class={`twist ${opens ? "" : "none"}`} tabIndex={-1} aria-label={`${open ? "Close" : "Open"} ${node.name}`}
              aria-hidden={opens ? undefined : true} onClick={() => tree.toggle(node)}>{open ? "▾" : "▸"}</button>
            <Link to={to.pool(tree.project, node.name)} tabIndex={-1}>{node.name}</Link>
            {!["", "default"].includes(spaceOf(node)) && <span class="note small space">space {spaceOf(node)}</span>}
          </>
        )}
      </span>
      <span role="gridcell" class="mono">{row.more ? "" : node.cidr}</span>
      <span role="gridcell">{!row.more && node.pool && <PoolBar pool={node.pool} divided={node.divided} />}</span>
      <span role="gridcell" class="right number">{!row.more && node.pool && formatCount(node.pool.status.capacity.available)}</span>
    </div>
  );
}

export function PoolBar({ pool, divided }: { pool: Pool; divided?: boolean | undefined }) {
  const { capacity, utilizationPercent, phase } = pool.status;
  const cooling = Number((BigInt(capacity.coolingDown) * 1000n) / BigInt(capacity.total)) / 10;
  return (
    <>
      <Bar percent={utilizationPercent} cooling={cooling} label={pool.metadata.name} divided={divided} />
      {phase !== "Ready" && phase !== "Exhausted" && <Badge kind="warn">{phase}</Badge>}
    </>
  );
}

const page = 100; // pools that are shown at once

/**
 * The matches of a filter in a large project. `more` means that the page can load more of them; truncated without it means that the server stopped.
 */
interface Matches { nodes: Node[]; truncated: boolean; more: boolean }

/** Filters a large project on the server: by address, block, label, or the beginning of a name. Figures are loaded later. */
function Found({ project, text }: { project: string; text: string }) {
  const calm = useCalm(text.trim(), 120);
  const [{ of, enough }, setEnough] = useState({ of: calm, enough: page });
  const wanted = of === calm ? enough : page;
  const found = useLoad(`pools:${project}:${calm}:${wanted}`, (stop) => find(project, calm, wanted, stop), ["IPPool"], 5000);
  const tree = useMemo(() => new Tree(project, () => draw(0)), [project]);
  const [, draw] = useReducer((n: number) => n + 1, 0);
  const shown = useRef<Matches | undefined>(undefined);
  if (found.data) shown.current = found.data; // keep these until new matches are loaded
  useEffect(() => {
    const timer = setTimeout(() => void tree.fill(found.data?.nodes ?? []), 300);
    return () => clearTimeout(timer);
  }, [found.data]);
  if (found.error !== undefined) return <Trouble error={found.error} retry={found.reload} />;
  if (shown.current === undefined) return <Waiting rows={4} />;
  const { nodes, truncated, more } = shown.current;
  if (nodes.length === 0) {
    if (isPartial(text.trim())) return <Empty>Enter a whole address or block, such as 10.1.2.3 or 10.1.0.0/16.</Empty>;
    return (
      <Empty>
        No pool {/[=!]/.test(text) ? "has such labels" : /[.:/]/.test(text) ? "contains this or lies in it" : `has a name that begins with “${text}”`}.
        This project is large: enter the beginning of a name, an address, a block, or a label such as env=prod.
      </Empty>
    );
  }
  return (
    <>
      <p class="note" role="status">{truncated || more ? `The first ${plural(nodes.length, "pool")}; there are more.` : plural(nodes.length, "pool")}</p>
      <ul class="plain" aria-label="Pools found">
        {nodes.map((node) => (
          <li key={node.name} class="line">
            <Link to={to.pool(project, node.name)}>{node.name}</Link>
            <span class="mono">{node.cidr}</span>
            {node.pool && <PoolBar pool={node.pool} divided={node.divided} />}
          </li>
        ))}
      </ul>
      {more && <button type="button" disabled={found.loading} onClick={() => setEnough({ of: calm, enough: wanted + 4 * page })}>Show more</button>}
      {truncated && <p class="note">The server finds at most {page} pools by name. Type more of the name to see the others.</p>}
    </>
  );
}

/**
 * Finds pools on the server. By name it returns the first matches. By label, and inside a block, it filters the list, a few thousand pools for each
 * page.
 */
async function find(project: string, text: string, enough: number, signal: AbortSignal): Promise<Matches> {
  const list = (query: { labelSelector: string } | { within: string }) => pagesOf<Pool>((next) => ask(api.GET("/v1/projects/{project}/pools", {
    params: { path: { project }, query: { ...query, limit: page, ...(next ? { cursor: next } : {}) } }, signal,
  })), enough, undefined, enough / 10);
  if (/[=!]/.test(text)) {
    const { items, cursor } = await list({ labelSelector: text });
    return { nodes: items.map(nodeOf), truncated: false, more: cursor !== undefined };
  }
  const { items, truncated } = await searchFor(`${project}/${text}`, { kind: "IPPool", limit: page, signal });
  const nodes = items.map((hit) => nodeOf({ name: hit.name, cidr: hit.cidr! }));
  const block = text.includes("/") ? parseBlock(text) : undefined;
  if (!block) return { nodes, truncated, more: false };
  const names = new Set(nodes.map((node) => node.name)); // the pools around the block
  const inside = await list({ within: formatCIDR(block) });
  return { nodes: [...nodes, ...inside.items.map(nodeOf).filter((node) => !names.has(node.name))], truncated: false, more: inside.cursor !== undefined };
}
