// The prefix tree of a project: pools below their parents, loaded level by level.
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { api, ask, type Pool } from "../api";
import { formatCount, parseBlock } from "../net/cidr";
import { useCalm, useChanges, useLoad } from "../load";
import { each, getPool, ignoreGone, nodeOf, spaceOf } from "../pools";
import { go, goQuery, Link, query, to } from "../router";
import { searchFor } from "../search";
import { may } from "../session";
import { Tree, type Row } from "../tree";
import { Badge, Bar, Empty, Heading, Waiting } from "../ui/parts";
import { Shown, Trouble } from "../ui/trouble";
import { Virtual } from "../ui/virtual";

const rowHeight = 34;

export function PoolsPage({ project }: { project: string }) {
  const [version, draw] = useReducer((n: number) => n + 1, 0);
  const tree = useMemo(() => new Tree(project, () => draw(0)), [project]);
  const [state, setState] = useState<{ ready: boolean; error?: unknown }>({ ready: false });
  const filter = query.value.get("filter") ?? "";
  const load = () => { tree.load().then(() => setState({ ready: true }), (error: unknown) => setState((was) => ({ ...was, error }))); };
  const again = useRef(load);
  again.current = load;
  useEffect(load, [tree]);
  useChanges(["IPPool"], useMemo(() => () => again.current(), []));
  return (
    <>
      <Heading title="Pools" note="Each pool below the one it is carved from.">
        {may("provider", project) && <Link class="button primary" to={to.newPool(project)}>New pool</Link>}
      </Heading>
      <input type="search" class="filter" aria-label="Filter by name, CIDR or label" placeholder="Filter by name, CIDR, address or label"
        value={filter} onInput={(e) => goQuery({ filter: e.currentTarget.value })} />
      {state.error !== undefined && <Trouble error={state.error} retry={load} />}
      {!state.ready && state.error === undefined && <Waiting rows={10} />}
      {state.ready && (filter !== "" && !tree.complete ? <Found project={project} text={filter} /> : <Rows tree={tree} version={version} filter={filter} />)}
      {tree.more && <Further tree={tree} version={version} />}
    </>
  );
}

function Further({ tree }: { tree: Tree; version: number }) {
  const [busy, setBusy] = useState(false);
  const look = async () => {
    setBusy(true);
    await tree.lookFurther().catch((cause: unknown) => { tree.error = cause; });
    setBusy(false);
  };
  return (
    <p class="note">
      This project is large. Top-level pools were looked for among {tree.looked.toLocaleString("en")} of its pools, in order of name.{" "}
      <button type="button" class="quiet" disabled={busy} onClick={() => void look()}>{busy ? "Looking…" : "Look further"}</button>
    </p>
  );
}

/** The version changes with the tree, which stays the same object: what has the same properties is not drawn again. */
function Rows({ tree, filter }: { tree: Tree; version: number; filter: string }) {
  const rows = tree.rows(filter);
  const [at, setAt] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const focused = Math.min(at, rows.length - 1);
  const follows = useRef(false); // the focus goes to the row as soon as it is drawn
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
  const seen = (first: number, last: number) => {
    bring();
    void tree.fill(rows.slice(first, last));
  };
  if (rows.length === 0) {
    return filter ? <Empty>No pool matches “{filter}”.</Empty> : (
      <Empty>
        <p>There are no pools yet. A pool is a block from which others are carved.</p>
        {may("provider", tree.project) && <Link class="button primary" to={to.newPool(tree.project)}>Create the first pool</Link>}
      </Empty>
    );
  }
  return (
    <div ref={box} class="tree" role="treegrid" aria-label="Pools" aria-rowcount={rows.length + 1} onKeyDown={(e) => onKey(e, tree, rows, focused, move)}>
      <div class="tree-head" role="row">
        <span role="columnheader">Pool</span>
        <span role="columnheader">Block</span>
        <span role="columnheader">Used</span>
        <span role="columnheader" class="right">Free addresses</span>
      </div>
      <Virtual count={rows.length} rowHeight={rowHeight} keepInView={at} className="rows" seen={seen}
        row={(i) => <TreeRow key={rowKey(rows[i]!)} row={rows[i]!} index={i} tree={tree} focused={i === focused} focus={() => setAt(i)} />} />
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

function TreeRow({ row, index, tree, focused, focus }: { row: Row; index: number; tree: Tree; focused: boolean; focus: () => void }) {
  const { node } = row;
  const open = tree.open.has(node.name);
  const opens = tree.opens(node);
  const size = row.of < 0 ? {} : { "aria-setsize": row.of };
  return (
    <div class="tree-row" role="row" aria-level={row.depth} aria-posinset={row.place} {...size} aria-rowindex={index + 2}
      aria-expanded={!row.more && opens ? open : undefined} tabIndex={focused ? 0 : -1} onFocus={focus}>
      <span role="gridcell" class="name">
        <span class="indent" style={{ width: `${(row.depth - 1) * 20}px` }} />
        {row.more ? <span class="note">Loading more below {node.name}…</span> : (
          <>
            <button type="button" class={`twist ${opens ? "" : "none"}`} tabIndex={-1} aria-label={`${open ? "Close" : "Open"} ${node.name}`}
              aria-hidden={opens ? undefined : true} onClick={() => tree.toggle(node)}>{open ? "▾" : "▸"}</button>
            <Link to={to.pool(tree.project, node.name)} tabIndex={-1}>{node.name}</Link>
            {!["", "default"].includes(spaceOf(node)) && <span class="note small space">space {spaceOf(node)}</span>}
          </>
        )}
      </span>
      <span role="gridcell" class="mono">{row.more ? "" : node.cidr}</span>
      <span role="gridcell">{!row.more && node.pool && <PoolBar pool={node.pool} />}</span>
      <span role="gridcell" class="right number">{!row.more && node.pool && formatCount(node.pool.status.capacity.available)}</span>
    </div>
  );
}

export function PoolBar({ pool }: { pool: Pool }) {
  const { capacity, utilizationPercent, phase } = pool.status;
  const cooling = Number((BigInt(capacity.coolingDown) * 1000n) / BigInt(capacity.total)) / 10;
  return (
    <>
      <Bar percent={utilizationPercent} cooling={cooling} label={pool.metadata.name} />
      {phase !== "Ready" && phase !== "Exhausted" && <Badge kind="warn">{phase}</Badge>}
    </>
  );
}

/** In a large project the server looks: by address, by block, by label, by the whole name. */
function Found({ project, text }: { project: string; text: string }) {
  const calm = useCalm(text, 300);
  const found = useLoad(`pools:${project}:${calm}`, async () => {
    const block = /[.:]/.test(calm) ? parseBlock(calm) : undefined;
    const filters = block ? (calm.includes("/") ? { within: calm.trim() } : { contains: calm.trim() }) : /[=!]/.test(calm) ? { labelSelector: calm } : undefined;
    const path = { project };
    if (filters) return (await ask(api.GET("/v1/projects/{project}/pools", { params: { path, query: { ...filters, limit: 200 } } }))).items;
    return searchPools(project, calm);
  });
  return (
    <Shown of={found}>
      {(pools) => pools.length === 0 ? <Empty>No pool matches “{text}”. In a project of this size give the beginning of a name, an address, a block or a label such as env=prod.</Empty> : (
        <ul class="plain">
          {pools.map(nodeOf).map((node) => (
            <li key={node.name} class="line">
              <Link to={to.pool(project, node.name)}>{node.name}</Link><span class="mono">{node.cidr}</span>{node.pool && <PoolBar pool={node.pool} />}
            </li>
          ))}
        </ul>
      )}
    </Shown>
  );
}

async function searchPools(project: string, text: string): Promise<Pool[]> {
  const hits = (await searchFor(`${project}/${text}`)).filter((hit) => hit.kind === "IPPool" && hit.project === project);
  return (await each(hits, (hit) => getPool(project, hit.name).catch(ignoreGone))).filter((pool) => pool !== undefined);
}
