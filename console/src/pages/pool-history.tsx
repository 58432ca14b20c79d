// The utilization of a pool over time, and when it will be full.
import type { Pool } from "../api";
import { useState } from "preact/hooks";
import { formatTime } from "../format";
import { useLoad } from "../load";
import { goQuery, Link, query, to } from "../router";
import { Chart, loadUtilization, Points } from "../ui/chart";
import { Empty, Select } from "../ui/parts";
import { Shown } from "../ui/trouble";

const ranges: [string, string][] = [["1", "Last day"], ["7", "Last 7 days"], ["30", "Last 30 days"], ["90", "Last 90 days"], ["365", "Last year"]];

export function PoolHistory({ pool }: { pool: Pool }) {
  const project = pool.metadata.project!;
  const name = pool.metadata.name;
  const days = Number(query.value.get("days") ?? 30);
  const [table, setTable] = useState(false);
  const used = useLoad(`utilization:${project}:${name}:${days}`, (stop) => loadUtilization(project, name, days, 200, stop),
    ["IPClaim", "IPAllocation"], 60_000);
  return (
    <>
      <div class="filters">
        <Select label="Time" value={String(days)} options={ranges} change={(d) => goQuery({ days: d === "30" ? undefined : d })} />
      </div>
      <Shown of={used} rows={8}>
        {(of) => of.points.length < 2 ? (
          <Empty>
            <p>Only the current value is recorded so far. Servers record the use of each pool once an hour; the chart begins with the second value.</p>
            <p>The pool was created {formatTime(pool.metadata.createdAt)}.</p>
          </Empty>
        ) : (
          <>
            <Chart of={of} days={days} label={`How much of ${name} was used`} />
            <details class="map-table" onToggle={(e) => setTable(e.currentTarget.open)}>
              <summary>The same as a table</summary>
              {table && <Points points={of.points} />}
            </details>
          </>
        )}
      </Shown>
      <p class="note">To get an alert before it is full, <Link to={to.page(project, "alerts")}>create an alert rule</Link>.</p>
    </>
  );
}
