// Errors in plain words, with remedies.
import type { ComponentChildren } from "preact";
import { isGone, Lost, Refused, Unfit, type Problem } from "../api";
import { elsewhere, fieldName, inWords } from "../fields";
import type { Loaded } from "../load";
import { Waiting } from "./parts";

/** The remedy for each code in one sentence; the problem's page has the rest. */
const remedies: Record<string, string> = {
  pool_exhausted: "Claim a smaller block, claim from another pool, or release unused claims.",
  exhausted_by_cooldown: "Wait until the cool-down is over, or claim a smaller block.",
  quota_exceeded: "Delete objects that count in the limit, or ask an admin to raise the quota.",
  block_taken: "Choose another block, or let the pool choose.",
  overlap: "Choose a block that no other root of this space overlaps.",
  in_use: "First release or delete its contents.",
  allocation_retained: "First delete the retained allocations.",
  precondition_failed: "It was changed meanwhile, by another user or by you. Check it again, then repeat.",
  permission_denied: "Ask an admin of the project for the role.",
  already_exists: "Choose another name.",
  rate_limited: "Wait a moment, then repeat.",
  contention: "Repeat: it is safe.",
  unavailable: "Wait a moment, then repeat: it is safe.",
  deadline: "Check whether it succeeded before you repeat it.",
  outcome_unknown: "Check whether it succeeded before you repeat it.",
  claim_released: "An earlier attempt succeeded, and its claim has since been released. Send it again to get another claim.",
  pool_draining: "Claim from another pool: this one is being emptied.",
  not_found: "Check the name. An object in a project where you have no role looks as if it did not exist.",
};

/** Shows a problem. The fields named here show their errors themselves. */
export function ProblemNote({ problem, fields = [], children }: { problem: Problem; fields?: string[]; children?: ComponentChildren }) {
  const remedy = remedies[problem.code];
  const errors = elsewhere(problem, fields);
  const marked = problem.errors && problem.errors.length > 0 && errors?.length === 0;
  return (
    <div class="trouble" role="alert">
      <strong>{problem.title}</strong>
      <p>{marked ? "Correct the marked fields." : inWords(problem.detail)}</p>
      {errors && errors.length > 0 && (
        <ul>{errors.map((e) => <li key={e.pointer + e.detail}><strong>{e.pointer ? fieldName(e.pointer) : "Request"}</strong> {inWords(e.detail)}</li>)}</ul>
      )}
      {remedy && <p class="remedy">{remedy}</p>}
      {children}
      {problem.code && (
        <p class="small">
          <a href={`/problems/${problem.code}`} target="_blank" rel="noopener"><code>{problem.code}</code>: explanation</a>
          {problem.traceId && <> · trace <code>{problem.traceId}</code></>}
        </p>
      )}
    </div>
  );
}

/** Shows any error with a button to retry. The fields named here show their errors themselves. */
export function Trouble({ error, retry, fields }: { error: unknown; retry?: (() => void) | undefined; fields?: string[] }) {
  const again = retry && <p><button type="button" onClick={retry}>Try again</button></p>;
  if (error instanceof Refused) {
    const repeats = error.problem.status >= 429;
    return <ProblemNote problem={error.problem} fields={fields ?? []}>{repeats && again}</ProblemNote>;
  }
  if (error instanceof Lost) {
    return (
      <div class="trouble" role="alert">
        <strong>No connection</strong>
        <p>The server did not respond, so the request may or may not have succeeded. Repeat it: the server carries out the same request only once.</p>
        {again}
      </div>
    );
  }
  return (
    <div class="trouble" role="alert">
      <strong>{error instanceof Unfit ? error.title : "The console failed"}</strong>
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {again}
    </div>
  );
}

/** Replaces a form's preview while the result of its last request is unknown. */
export const Unclear = ({ button }: { button: string }) => (
  <p class="note">The response to this request was lost. Press {button} again: the server carries it out only once.</p>
);

type ShownProps<T> = { of: Loaded<T>; rows?: number; gone?: ComponentChildren; children: (data: T) => ComponentChildren };

/** Shows the data, or that it is loading, or why loading failed. `gone` replaces a 404. */
export function Shown<T>({ of, rows, gone, children }: ShownProps<T>) {
  if (of.data === undefined) {
    if (of.error === undefined) return <Waiting rows={rows ?? 4} />;
    return gone !== undefined && isGone(of.error) ? <>{gone}</> : <Trouble error={of.error} retry={of.reload} />;
  }
  return (
    <>
      {of.error !== undefined && <Trouble error={of.error} retry={of.reload} />}
      {children(of.data)}
    </>
  );
}
