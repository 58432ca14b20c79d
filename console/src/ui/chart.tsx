// The utilization of a pool over time, as a chart and as a table.
import { useId } from "preact/hooks";
import { api, ask, type Schemas } from "../api";
import { day, formatDate, formatPercent, formatSpan, formatTime } from "../format";
import { formatCount } from "../net/cidr";
import { Table } from "./parts";

export type Utilization = Schemas["PoolUtilization"];
type Point = Schemas["UtilizationPoint"];

export const loadUtilization = (project: string, pool: string, days: number, points: number, signal: AbortSignal) =>
  ask(api.GET("/v1/projects/{project}/pools/{pool}/utilization", {
    params: { path: { project, pool }, query: { since: new Date(Date.now() - days * day).toISOString(), points } }, signal,
  }));

const time = (at: string) => new Date(at).getTime();

/** Splits points into runs; nothing was recorded between two runs. */
function runsOf(points: Point[], gap: number): Point[][] {
  const runs: Point[][] = [];
  for (const point of points) {
    const last = runs.at(-1)?.at(-1);
    if (last && time(point.at) - time(last.at) <= gap) runs.at(-1)!.push(point);
    else runs.push([point]);
  }
  return runs;
}

/** Returns the smallest round figure that is large enough for all points. */
const topOf = (highest: number) => [1, 2, 5, 10, 20, 50].find((top) => highest <= top) ?? 100;

const box = { left: 72, right: 12, top: 12, bottom: 26, width: 720, height: 240 };

/** Describes the runway in a sentence. */
export function runwayWords({ runway, points }: Utilization): string {
  if (points.at(-1)?.usedPercent === 100) return "Nothing is free.";
  if (!runway) return "There is no forecast: too few values are recorded, or the use does not grow steadily.";
  const lately = runway.over === "P1D" ? "the last day" : "the last 14 days";
  return `Full on ${formatTime(runway.runsOutAt)} at the rate of ${lately}: ${formatPercent(runway.percentPerDay)} more each day.`;
}

export function Chart({ of, days, label }: { of: Utilization; days: number; label: string }) {
  const id = useId();
  const { points, runway } = of;
  const now = time(points.at(-1)!.at);
  const span = days * day;
  const from = now - span; // the whole requested period, even if the records start later
  const until = runway ? Math.min(time(runway.runsOutAt), now + (now - from) / 2) : now;
  const end = points.at(-1)!.usedPercent;
  const ahead = runway ? Math.min(100, end + (runway.percentPerDay * (until - now)) / day) : end;
  const top = topOf(Math.max(ahead, ...points.map((p) => p.highestPercent)));
  const x = (at: number) => box.left + ((at - from) / (until - from)) * (box.width - box.left - box.right);
  const y = (percent: number) => box.height - box.bottom - (percent / top) * (box.height - box.top - box.bottom);
  const line = (run: Point[], percent: (p: Point) => number) => run.map((p) => `${x(time(p.at)).toFixed(1)},${y(percent(p)).toFixed(1)}`);
  const foot = (p: Point) => `${x(time(p.at)).toFixed(1)},${y(0)}`;
  const runs = runsOf(points, Math.max(1.5 * day, span / 40));
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${box.width} ${box.height}`} role="img" aria-labelledby={`${id}-title ${id}-desc`}>
        <title id={`${id}-title`}>{label}</title>
        <desc id={`${id}-desc`}>{describe(of)}</desc>
        {[0, top / 2, top].map((percent) => (
          <g key={percent}>
            <line class="rule" x1={box.left} x2={box.width - box.right} y1={y(percent)} y2={y(percent)} />
            <text x={box.left - 8} y={y(percent) + 4} text-anchor="end">{percent} %</text>
          </g>
        ))}
        {[from, (from + until) / 2, until].map((at, i) => (
          <text key={i} x={x(at)} y={box.height - 8} text-anchor={["start", "middle", "end"][i]}>{formatDate(at, until - from)}</text>
        ))}
        {runs.map((run) => (
          <g key={run[0]!.at}>
            <polygon class="area" points={[foot(run[0]!), ...line(run, (p) => p.usedPercent), foot(run.at(-1)!)].join(" ")} />
            <polyline class="highest" points={line(run, (p) => p.highestPercent).join(" ")} />
            <polyline class="used" points={line(run, (p) => p.usedPercent).join(" ")} />
          </g>
        ))}
        {runway && <line class="ahead" x1={x(now)} y1={y(end)} x2={x(until)} y2={y(ahead)} />}
        {until > now && <line class="now" x1={x(now)} x2={x(now)} y1={box.top} y2={box.height - box.bottom} />}
        <circle class="end" cx={x(now)} cy={y(end)} r="3.5" />
      </svg>
      <figcaption>
        <ul class="legend" aria-label="Legend">
          <li><span class="stroke used" aria-hidden="true" />Used</li>
          <li><span class="stroke highest" aria-hidden="true" />Highest since the previous value</li>
          {runway && <li><span class="stroke ahead" aria-hidden="true" />Forecast</li>}
        </ul>
        <p>{runwayWords(of)}</p>
      </figcaption>
    </figure>
  );
}

function describe({ points }: Utilization): string {
  const [first, last] = [points[0]!, points.at(-1)!];
  const highest = points.reduce((most, p) => (p.highestPercent > most.highestPercent ? p : most));
  return `From ${formatPercent(first.usedPercent)} on ${formatTime(first.at)} to ${formatPercent(last.usedPercent)} on ${formatTime(last.at)}. `
    + `The highest was ${formatPercent(highest.highestPercent)}, by ${formatTime(highest.at)}. The table below has all figures.`;
}

export function Points({ points }: { points: Point[] }) {
  return (
    <Table label="Use over time" head={["When", ["Used", "right"], ["Highest", "right"], ["Addresses", "right"]]}>
      {[...points].reverse().map((p) => (
        <tr key={p.at}>
          <th scope="row"><time dateTime={p.at}>{formatTime(p.at)}</time></th>
          <td class="right number">{formatPercent(p.usedPercent)}</td>
          <td class="right number">{formatPercent(p.highestPercent)}</td>
          <td class="right number">{formatCount(p.used)}</td>
        </tr>
      ))}
    </Table>
  );
}

const small = { width: 96, height: 24 };

/** Draws the same chart in the size of a word. */
export function Spark({ of, label }: { of: Utilization; label: string }) {
  const { points } = of;
  const [from, until] = [time(points[0]!.at), time(points.at(-1)!.at)];
  const top = topOf(Math.max(...points.map((p) => p.usedPercent)));
  const x = (p: Point) => 2 + ((time(p.at) - from) / (until - from)) * (small.width - 4);
  const y = (p: Point) => small.height - 2 - (p.usedPercent / top) * (small.height - 4);
  const words = `${label}: from ${formatPercent(points[0]!.usedPercent)} to ${formatPercent(points.at(-1)!.usedPercent)} in ${formatSpan(until - from)}`;
  return (
    <svg class="spark" viewBox={`0 0 ${small.width} ${small.height}`} width={small.width} height={small.height} role="img" aria-label={words}>
      <title>{words}</title>
      <polyline class="used" points={points.map((p) => `${x(p).toFixed(1)},${y(p).toFixed(1)}`).join(" ")} />
    </svg>
  );
}
