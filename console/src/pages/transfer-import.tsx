// Import: compares a CSV file with the project, shows the result row by row, and applies it when the user confirms.
import { useEffect, useRef, useState } from "preact/hooks";
import { unique } from "../api";
import { plural } from "../format";
import { go, Link, to } from "../router";
import { Badge, Heading, Table } from "../ui/parts";
import { Trouble } from "../ui/trouble";
import { breathe, decode, line, parse, save, unreadable } from "./transfer-csv";
import { columns, rowsOf, texts, type Row, type State } from "./transfer-rows";
import { apply, compare, type Progress } from "./transfer-run";

interface Plan { file: string; rows: Row[]; run: string }
type Phase = "choose" | "reading" | "comparing" | "compared" | "applying" | "applied";
interface Step { what: string; done: number; of?: number | undefined }

const largest = 64 << 20; // bytes

/** The plan and its progress. Rows change in place and are drawn again with each step. */
function useImport(project: string) {
  const [plan, setPlan] = useState<Plan>();
  const [phase, setPhase] = useState<Phase>("choose");
  const [step, setStep] = useState<Step>();
  const [error, setError] = useState<unknown>();
  const stop = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  useEffect(() => {
    if (phase !== "applying") return undefined;
    const stay = (e: BeforeUnloadEvent) => e.preventDefault();
    addEventListener("beforeunload", stay);
    return () => removeEventListener("beforeunload", stay);
  }, [phase]);
  const last = useRef(0);
  const progress: Progress = (what, done, of) => {
    if (done !== of && Date.now() - last.current < 100) return;
    last.current = Date.now();
    setStep({ what, done, of });
  };
  const run = async (during: Phase, after: Phase, otherwise: Phase, work: (signal: AbortSignal) => Promise<void>) => {
    const own = (stop.current = new AbortController());
    setError(undefined);
    setStep(undefined);
    setPhase(during);
    try {
      await work(own.signal);
      setPhase(after);
    } catch (cause) {
      if (!own.signal.aborted) setError(cause);
      if (otherwise === "choose") setPlan(undefined);
      setPhase(otherwise);
    }
  };
  const read = (file: File) => run("reading", "compared", "choose", async (signal) => {
    if (file.size > largest) throw unreadable(`The file has more than ${largest >> 20} MiB. Divide it.`);
    const rows = rowsOf(await parse(decode(new Uint8Array(await file.arrayBuffer()))));
    setPlan({ file: file.name, rows, run: unique() });
    setPhase("comparing");
    await breathe();
    await compare(project, rows, signal, progress);
  });
  const start = () => run("applying", "applied", "compared", (signal) => apply(project, plan!.rows, plan!.run, signal, progress));
  const again = () => { setPlan(undefined); setPhase("choose"); setError(undefined); };
  return { plan, phase, step, error, read, start, again, halt: () => stop.current?.abort() };
}

export function ImportPage({ project }: { project: string }) {
  const { plan, phase, step, error, read, start, again, halt } = useImport(project);
  const busy = phase === "reading" || phase === "comparing" || phase === "applying";
  const fresh = plan?.rows.filter((row) => row.state === "new").length ?? 0;
  return (
    <>
      <Heading title="Import" crumbs={[{ to: to.project(project), text: project }]}
        note="Pools and claims from a CSV file, as Export writes it. First you see a preview. The import never changes or deletes an existing object.">
        {plan && !busy && <button type="button" onClick={again}>Another file</button>}
      </Heading>
      {!plan && <Choose busy={busy} read={(file) => void read(file)} />}
      {busy && <Under step={step} phase={phase} halt={halt} />}
      {error !== undefined && <Trouble error={error} />}
      {plan && phase !== "comparing" && (
        <>
          <p role="status" class="strong">{sentence(plan, phase)}</p>
          <div class="actions gap">
            {(phase === "compared" || phase === "applied") && fresh > 0 && <button type="button" class="primary" onClick={() => void start()}>{phase === "compared" && !made(plan) ? "Import" : "Continue with"} {plural(fresh, "row")}</button>}
            {!busy && <button type="button" onClick={() => report(project, plan)}>Download the report</button>}
            {phase === "applied" && <button type="button" onClick={() => go(to.page(project, "claims"))}>Show the claims</button>}
          </div>
          <Rows project={project} rows={[...plan.rows] /* a new array: a component with the same properties is not drawn again */} />
        </>
      )}
    </>
  );
}

const made = (plan: Plan) => plan.rows.some((row) => row.state === "made");

function sentence({ file, rows }: Plan, phase: Phase): string {
  const count = (state: State) => rows.filter((row) => row.state === state).length;
  const parts = [`${file}: ${plural(rows.length, "row")}`];
  if (count("made") > 0) parts.push(`${count("made").toLocaleString("en")} imported`);
  if (count("new") > 0) parts.push(`${count("new").toLocaleString("en")} new`);
  parts.push(`${count("same").toLocaleString("en")} existing`, `${count("differs").toLocaleString("en")} different and left unchanged`, `${count("refused").toLocaleString("en")} refused`);
  return parts.join(", ") + (phase === "compared" && count("made") === 0 ? ". Nothing was changed yet." : ".");
}

function Choose({ busy, read }: { busy: boolean; read: (file: File) => void }) {
  const [over, setOver] = useState(false);
  const take = (files: FileList | null | undefined) => { const file = files?.[0]; if (file && !busy) read(file); };
  return (
    <div class={`drop ${over ? "over" : ""}`} onDragOver={(e) => { e.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)}
      onDrop={(e) => { e.preventDefault(); setOver(false); take(e.dataTransfer?.files); }}>
      <label for="import-file">CSV file</label>
      <input id="import-file" type="file" accept=".csv,text/csv" disabled={busy} aria-describedby="import-hint" onChange={(e) => take(e.currentTarget.files)} />
      <small id="import-hint" class="note">Choose it, or drop it here. The first line names the columns: <code>{columns.join(", ")}</code>. The first three are required; a block can be <code>/28</code>, for any block of that size.</small>
      <button type="button" class="quiet" onClick={() => save("carve-example.csv", [line([...columns]), ...example.map(line)])}>An example to fill in</button>
    </div>
  );
}

const example = [
  ["pool", "office", "10.80.0.0/16", "", "", "", "", "The office", "consumer", "site=hq"],
  ["pool", "office-wifi", "10.80.16.0/20", "office", "", "", "", "", "consumer", ""],
  ["claim", "printer", "10.80.16.9/32", "office-wifi", "", "", "", "", "", "owner=it"],
  ["claim", "guests", "/24", "office-wifi", "", "", "", "", "", ""],
];

function Under({ step, phase, halt }: { step: Step | undefined; phase: Phase; halt: () => void }) {
  const what = step?.what ?? (phase === "reading" ? "Reading the file" : "Beginning");
  return (
    <div class="under">
      <p><span role="status">{what}…</span>{step && <span class="note number"> {step.done.toLocaleString("en")}{step.of !== undefined ? ` of ${step.of.toLocaleString("en")}` : ""}</span>}</p>
      <progress aria-label={what} {...(step?.of ? { value: step.done, max: step.of } : {})} />
      <button type="button" onClick={halt}>{phase === "applying" ? "Stop" : "Cancel"}</button>
      {phase === "applying" && <p class="note small">What is imported stays. Stop and go on as you like, also later with the same file: nothing is made twice.</p>}
    </div>
  );
}

const words: { [state in State]: [string, string] } = {
  waiting: ["Not checked", ""], new: ["New", "good"], made: ["Imported", "good"], same: ["Same", ""], differs: ["Differs", "warn"], refused: ["Refused", "bad"],
};
const shownAtOnce = 100;

function Rows({ project, rows }: { project: string; rows: Row[] }) {
  const [only, setOnly] = useState<State | "">("");
  const [at, setAt] = useState(0);
  const fitting = only === "" ? rows : rows.filter((row) => row.state === only);
  const first = Math.min(at, Math.max(0, Math.floor((fitting.length - 1) / shownAtOnce) * shownAtOnce));
  const states = (Object.keys(words) as State[]).filter((state) => rows.some((row) => row.state === state));
  const choose = (state: State | "") => { setOnly(state); setAt(0); };
  return (
    <>
      <div class="quick gap" role="group" aria-label="Rows that are shown">
        <button type="button" aria-pressed={only === ""} onClick={() => choose("")}>All {rows.length.toLocaleString("en")}</button>
        {states.map((state) => (
          <button key={state} type="button" aria-pressed={only === state} onClick={() => choose(state)}>{words[state][0]} {rows.filter((row) => row.state === state).length.toLocaleString("en")}</button>
        ))}
      </div>
      <Table label="Rows of the file" head={[["Line", "right"], "Kind", "Name", "Block", "Pool or class", "Outcome", "Why"]}>
        {fitting.slice(first, first + shownAtOnce).map((row) => (
          <tr key={row.line}>
            <td class="right">{row.line}</td>
            <td>{row.cells.kind}</td>
            <th scope="row">{["same", "differs", "made"].includes(row.state) ? <Link to={row.kind === "pool" ? to.pool(project, row.name) : to.claim(project, row.name)}>{row.name}</Link> : row.name}</th>
            <td class="mono">{row.cells.cidr}</td>
            <td>{row.cells.class || row.cells.pool}</td>
            <td><Badge kind={words[row.state][1]}>{words[row.state][0]}</Badge></td>
            <td class="note">{row.detail}</td>
          </tr>
        ))}
      </Table>
      {fitting.length > shownAtOnce && (
        <nav class="actions" aria-label="Pages of rows">
          <button type="button" disabled={first === 0} onClick={() => setAt(first - shownAtOnce)}>Earlier rows</button>
          <button type="button" disabled={first + shownAtOnce >= fitting.length} onClick={() => setAt(first + shownAtOnce)}>Later rows</button>
          <span class="note">{(first + 1).toLocaleString("en")} to {Math.min(first + shownAtOnce, fitting.length).toLocaleString("en")} of {fitting.length.toLocaleString("en")}</span>
        </nav>
      )}
    </>
  );
}

/** Saves every row with its outcome. Import can read the file again, so the user can correct refused rows in it. */
function report(project: string, plan: Plan) {
  const lines = plan.rows.map((row) => line([...texts(row.cells), words[row.state][0].toLowerCase(), row.detail]));
  save(`${project}-import.csv`, [line([...columns, "outcome", "detail"]), ...lines]);
}
