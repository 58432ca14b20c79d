// The block map: a grid that zooms from the whole pool down to single addresses, and the same facts as a table.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Pool } from "../api";
import { formatTime, plural } from "../format";
import { useLoad } from "../load";
import { cellsOf, columnsOf, loadMap, paint, stateNames, type Cell, type Colouring, type PoolMap, type Run } from "../map";
import { bits, contains, formatAddress, formatBlock, formatCIDR, lastAddress, parseBlock, partOf, type Block } from "../net/cidr";
import { go, goQuery, Link, query, to } from "../router";
import { Select, Table, When } from "./parts";
import { Shown } from "./trouble";

export function BlockMap({ pool }: { pool: Pool }) {
  const project = pool.metadata.project!;
  const name = pool.metadata.name;
  const whole = parseBlock(pool.status.allocatedCIDR)!;
  const asked = parseBlock(query.value.get("at") ?? "");
  const within = asked && contains(whole, asked) && asked.length < bits(asked.family) ? asked : whole;
  const by = (query.value.get("colour") ?? "state") as Colouring;
  // After zooming, the focus returns to the map: to the block from which the user zoomed out, or to the first cell.
  const landing = useRef<Block | undefined>(undefined);
  const map = useLoad(`map:${project}:${name}:${formatCIDR(within)}`, (stop) => loadMap(project, name, within, stop), [
    "IPAllocation",
    "IPClaim",
    "IPPool",
  ]);
  return (
    <>
      <div class="map-bar">
        <Zoomed whole={whole} within={within} />
        <Select label="Colour by" value={by} change={(colour) => goQuery({ colour: colour === "state" ? undefined : colour })}
          options={[["state", "State"], ["project", "Project"], ["class", "Class"], ["age", "Age"]]} />
      </div>
      <Shown of={map} rows={8}>
        {(data) => <Drawn key={data.within} data={data} within={within} whole={whole} by={by} project={project} landing={landing} />}
      </Shown>
    </>
  );
}

/** Shows the path to the current block: each step outward is a link. */
function Zoomed({ whole, within }: { whole: Block; within: Block }) {
  const steps: Block[] = [within];
  while (steps[0]!.length > whole.length) steps.unshift(outwards(steps[0]!, whole));
  return (
    <nav class="crumbs mono" aria-label="Zoom">
      {steps.map((step, i) => i === steps.length - 1
        ? <span key={step.length} aria-current="location">{formatCIDR(step)}</span>
        : <button key={step.length} type="button" class="link" onClick={() => zoom(step, whole)}>{formatCIDR(step)}</button>)}
    </nav>
  );
}

/** Returns the block from which one zoom step leads to this one. */
function outwards(within: Block, whole: Block): Block {
  const length = Math.max(whole.length, within.length - 8 + ((4 - (within.length % 4)) % 4));
  const rest = BigInt(bits(within.family) - length);
  return { family: within.family, base: (within.base >> rest) << rest, length };
}

const zoom = (block: Block, whole: Block) => goQuery({ at: block.length === whole.length ? undefined : formatCIDR(block) }, false);

interface DrawnProps { data: PoolMap; within: Block; whole: Block; by: Colouring; project: string; landing: { current: Block | undefined } }

function Drawn({ data, within, whole, by, project, landing }: DrawnProps) {
  const cells = useMemo(() => cellsOf(data, within), [data]);
  const [at, setAt] = useState(() => Math.max(0, cells.findIndex((cell) => landing.current && contains(cell.block, landing.current))));
  const [table, setTable] = useState(false);
  const painted = useMemo(() => {
    const seen = new Map<string, number>();
    return new Map(data.cells.map((run) => [run, paint(run, by, seen)]));
  }, [data, by]);
  const legend = new Map([...painted.values()].map((p) => [p.word, p.style]));
  const step = (to: Block, from: Block) => {
    landing.current = from;
    zoom(to, whole);
  };
  const enter = (cell: Cell) => {
    const holder = cell.run.by;
    if (cell.run.state === "ChildPool" && holder?.name) go(to.pool(holder.project ?? project, holder.name));
    else if (cell.block.length < bits(cell.block.family)) step(cell.block, partOf(cell.block, bits(cell.block.family), 0));
    else go(to.address(project, formatBlock(cell.block)));
  };
  const leave = () => { if (within.length > whole.length) step(outwards(within, whole), within); };
  const current = cells[Math.min(at, cells.length - 1)]!;
  return (
    <>
      <div class="map-area">
        <Grid cells={cells} at={current.index} setAt={setAt} painted={painted} enter={enter} leave={leave} landing={landing}
          label={`${formatCIDR(within)} in ${plural(cells.length, "block")} of /${data.cellPrefixLength}`} />
        <div class="map-side">
          <ul class="legend" aria-label="Legend">
            {[...legend].map(([word, style]) => (
              <li key={word}>
                <span class={`swatch ${style}`} aria-hidden="true" />
                {word}
              </li>
            ))}
          </ul>
          <CellFacts cell={current} project={project} enter={() => enter(current)} />
          <p class="note small">Arrow keys move, Enter goes in, Escape goes out.</p>
        </div>
      </div>
      <details class="map-table" onToggle={(e) => setTable(e.currentTarget.open)}>
        <summary>The same as a table</summary>
        {table && <Runs data={data} within={within} project={project} />}
      </details>
    </>
  );
}

interface GridProps {
  cells: Cell[];
  at: number;
  setAt: (at: number) => void;
  painted: Map<Run, { style: string }>;
  enter: (cell: Cell) => void;
  leave: () => void;
  landing: { current: Block | undefined };
  label: string;
}

/** Draws the cells once; moving over them changes only the cell that has the focus. */
function Grid({ cells, at, setAt, painted, enter, leave, landing, label }: GridProps) {
  const box = useRef<HTMLDivElement>(null);
  const columns = columnsOf(cells.length);
  const cellAt = (index: number) => box.current?.querySelector<HTMLElement>(`[data-index="${index}"]`);
  useLayoutEffect(() => {
    box.current?.querySelector("[role=gridcell][tabindex='0']")?.setAttribute("tabindex", "-1");
    cellAt(at)?.setAttribute("tabindex", "0");
    if (landing.current === undefined) return;
    landing.current = undefined;
    cellAt(at)?.focus();
  });
  const move = (next: number) => {
    if (next < 0 || next >= cells.length) return;
    setAt(next);
    cellAt(next)?.focus();
  };
  const key = (e: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };
    if (steps[e.key] !== undefined) move(at + steps[e.key]!);
    else if (e.key === "Home") move(0);
    else if (e.key === "End") move(cells.length - 1);
    else if (e.key === "Enter" || e.key === " ") enter(cells[at]!);
    else if (e.key === "Escape") leave();
    else return;
    e.preventDefault();
  };
  const over = (then: (index: number) => void) => (e: Event) => {
    const index = e.target instanceof Element ? e.target.closest<HTMLElement>("[data-index]")?.dataset.index : undefined;
    if (index !== undefined) then(Number(index));
  };
  const rows = useMemo(() => rowsOf(cells, columns, painted), [cells, painted]);
  return (
    <div
      ref={box}
      class={`map columns-${columns} ${cells[0]?.block.family === 6 ? "long" : ""}`}
      role="grid"
      aria-label={label}
      onKeyDown={key}
      onClick={over((index) => {
        setAt(index);
        enter(cells[index]!);
      })}
      onMouseOver={over(setAt)}
      onFocusIn={over(setAt)}>
      {rows}
    </div>
  );
}

function rowsOf(cells: Cell[], columns: number, painted: GridProps["painted"]) {
  const rows: Cell[][] = [];
  for (let i = 0; i < cells.length; i += columns) rows.push(cells.slice(i, i + columns));
  return rows.map((row) => (
    <div key={row[0]!.index} role="row" class="map-row">
      <span role="rowheader" class="map-label mono">
        {formatAddress(row[0]!.block.family, row[0]!.block.base)}
      </span>
      {row.map((cell) => (
        <div
          key={cell.index}
          data-index={cell.index}
          role="gridcell"
          tabIndex={-1}
          aria-label={describe(cell)}
          class={`cell ${painted.get(cell.run)!.style} ${joins(cell, columns)}`}>
          {columns <= 8 && <span class="mono">{cell.run.by?.name ?? cell.run.by?.reason ?? ""}</span>}
        </div>
      ))}
    </div>
  ));
}

/** Cells of one block touch each other. */
function joins(cell: Cell, columns: number): string {
  const { run, index } = cell;
  if (!run.by) return "";
  return index + 1 < run.first + run.count && (index + 1) % columns !== 0 ? "joins" : "";
}

function describe({ block, run }: Cell): string {
  const who = run.by?.name ? `, ${run.by.name}` : run.by?.reason ? `, ${run.by.reason}` : "";
  return `${formatBlock(block)}: ${stateNames[run.state]}${who}`;
}

export function HolderLink({ run, project }: { run: Run; project: string }) {
  const by = run.by;
  if (!by) return null;
  if (by.kind === "ChildPool" && by.name) return <Link to={to.pool(by.project ?? project, by.name)}>{by.name}</Link>;
  if (by.kind === "Claim" && by.name && run.state === "Held") return <Link to={to.claim(by.project ?? project, by.name)}>{by.name}</Link>;
  return <>{by.name ?? by.reason ?? ""}</>;
}

function CellFacts({ cell, project, enter }: { cell: Cell; project: string; enter: () => void }) {
  const { block, run } = cell;
  const single = block.length === bits(block.family);
  return (
    <div class="cell-facts" aria-live="off">
      <p class="mono strong">{formatBlock(block)}</p>
      {!single && <p class="mono note small">to {lastAddress(block)}</p>}
      <p>{stateNames[run.state]}{run.by && run.by.cidr !== formatCIDR(block) && <> as part of <span class="mono">{run.by.cidr}</span></>}</p>
      {run.by && <p><HolderLink run={run} project={project} />{run.by.project && run.by.project !== project && <> of {run.by.project}</>}</p>}
      {run.by && <p class="note small">since {formatTime(run.by.since)}</p>}
      {run.by?.coolUntil && <p class="note small">free again {formatTime(run.by.coolUntil)}</p>}
      <button type="button" onClick={enter}>{run.state === "ChildPool" ? "Open the pool" : single ? "Open the address" : "Zoom in"}</button>
    </div>
  );
}

function Runs({ data, within, project }: { data: PoolMap; within: Block; project: string }) {
  return (
    <Table label={`Blocks of ${data.within}`} head={["From", "To", "State", "Holder", "Project", "Since"]}>
      {data.cells.map((run) => (
        <tr key={run.first}>
          <td class="mono">{formatBlock({ ...partOf(within, data.cellPrefixLength, run.first), length: bits(within.family) })}</td>
          <td class="mono">{lastAddress(partOf(within, data.cellPrefixLength, run.first + run.count - 1))}</td>
          <td>{stateNames[run.state]}</td>
          <td><HolderLink run={run} project={project} /></td>
          <td>{run.by?.project}</td>
          <td>{run.by && <When at={run.by.since} />}</td>
        </tr>
      ))}
    </Table>
  );
}
