// Export: the pools and claims of a project as a CSV file that import reads.
import { useEffect, useRef, useState } from "preact/hooks";
import { plural } from "../format";
import { to } from "../router";
import { Heading } from "../ui/parts";
import { Trouble } from "../ui/trouble";
import { line, save } from "./transfer-csv";
import { cellsOfClaim, cellsOfPool, columns, texts } from "./transfer-rows";
import { listClaims, listPools, pageByPage } from "./transfer-run";

interface Done { pools: number; claims: number; over: boolean }

export function ExportPage({ project }: { project: string }) {
  const [done, setDone] = useState<Done>();
  const [error, setError] = useState<unknown>();
  const [with_, setWith] = useState({ pools: true, claims: true });
  const stop = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const running = done !== undefined && !done.over;
  const run = async () => {
    const own = (stop.current = new AbortController());
    const parts = [line([...columns])];
    const counts = { pools: 0, claims: 0, over: false };
    setError(undefined);
    setDone({ ...counts });
    try {
      if (with_.pools) {
        await pageByPage(project, listPools, own.signal, (items) => {
          parts.push(items.map((pool) => line(texts(cellsOfPool(project, pool)))).join(""));
          counts.pools += items.length;
          setDone({ ...counts });
        });
      }
      if (with_.claims) {
        await pageByPage(project, listClaims, own.signal, (items) => {
          parts.push(items.map((claim) => line(texts(cellsOfClaim(project, claim)))).join(""));
          counts.claims += items.length;
          setDone({ ...counts });
        });
      }
      save(`${project}.csv`, parts);
      setDone({ ...counts, over: true });
    } catch (cause) {
      setDone(undefined);
      if (!own.signal.aborted) setError(cause);
    }
  };
  return (
    <>
      <Heading title="Export" crumbs={[{ to: to.project(project), text: project }]} note="A CSV file for a spreadsheet, or for the import of this project or another." />
      <fieldset class="plain-set" disabled={running}>
        <legend>Contents of the file</legend>
        <label class="check"><input type="checkbox" checked={with_.pools} onChange={(e) => setWith({ ...with_, pools: e.currentTarget.checked })} /> Pools</label>
        <label class="check"><input type="checkbox" checked={with_.claims} onChange={(e) => setWith({ ...with_, claims: e.currentTarget.checked })} /> Claims</label>
      </fieldset>
      <div class="actions">
        <button type="button" class="primary" disabled={running || !(with_.pools || with_.claims)} onClick={() => void run()}>Export as CSV</button>
        {running && <button type="button" onClick={() => stop.current?.abort()}>Cancel</button>}
      </div>
      <p role="status" class="note gap">
        {done && `${plural(done.pools, "pool")} and ${plural(done.claims, "claim")} ${done.over ? `are in ${project}.csv.` : "read so far…"}`}
      </p>
      {error !== undefined && <Trouble error={error} retry={() => void run()} />}
      <p class="note small">The file has a row for each: its name, block, parent pool or pool, space, class, description, visibility and labels. Reservations, allocation bounds and consumers are not in it.
        If a spreadsheet would interpret a cell as a formula, the cell begins with an apostrophe; import removes it.</p>
    </>
  );
}
