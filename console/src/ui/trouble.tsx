// What went wrong, in plain words, and what can be done about it.
import type { ComponentChildren } from "preact";
import { Lost, Refused, type Problem } from "../api";
import type { Loaded } from "../load";
import { Waiting } from "./parts";

/** What the caller can do about a code, in one sentence; the problem's page has the rest. */
const remedies: Record<string, string> = {
  pool_exhausted: "Ask for a smaller block, claim from another pool, or release what nobody uses.",
  exhausted_by_cooldown: "Wait until the cool-down is over, or ask for a smaller block.",
  quota_exceeded: "Release something that counts in the quota, or have an admin raise it.",
  block_taken: "Choose another block, or let the pool choose.",
  overlap: "Choose a block that no other root of this space overlaps.",
  in_use: "Release what it holds first.",
  allocation_retained: "Give the retained blocks back first.",
  precondition_failed: "Somebody changed it meanwhile. Look at it again, then repeat.",
  permission_denied: "Ask an admin of the project for the role.",
  already_exists: "Choose another name.",
  rate_limited: "Wait a moment, then repeat.",
  contention: "Repeat: it is safe.",
  unavailable: "Wait a moment, then repeat: it is safe.",
  deadline: "Look whether it was done before you repeat it.",
  outcome_unknown: "Look whether it was done before you repeat it.",
  pool_draining: "Claim from another pool: this one is being emptied.",
  not_found: "Check the name. What you have no role for looks as if it did not exist.",
};

export function ProblemNote({ problem, children }: { problem: Problem; children?: ComponentChildren }) {
  const remedy = remedies[problem.code];
  return (
    <div class="trouble" role="alert">
      <strong>{problem.title}</strong>
      <p>{problem.detail}</p>
      {problem.errors && problem.errors.length > 0 && (
        <ul>{problem.errors.map((e) => <li key={e.pointer + e.detail}><code>{e.pointer || "request"}</code> {e.detail}</li>)}</ul>
      )}
      {remedy && <p class="remedy">{remedy}</p>}
      {children}
      {problem.code && (
        <p class="small">
          <a href={`/problems/${problem.code}`} target="_blank" rel="noopener"><code>{problem.code}</code>: what it means</a>
          {problem.traceId && <> · trace <code>{problem.traceId}</code></>}
        </p>
      )}
    </div>
  );
}

/** Any error, with a button to try again. */
export function Trouble({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const again = retry && <p><button type="button" onClick={retry}>Try again</button></p>;
  if (error instanceof Refused) {
    const repeats = error.problem.status >= 429;
    return <ProblemNote problem={error.problem}>{repeats && again}</ProblemNote>;
  }
  if (error instanceof Lost) {
    return (
      <div class="trouble" role="alert">
        <strong>No connection</strong>
        <p>The server did not answer. Nothing is wrong with what you did; it may not have arrived.</p>
        {again}
      </div>
    );
  }
  return (
    <div class="trouble" role="alert">
      <strong>The console failed</strong>
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {again}
    </div>
  );
}

/** What was loaded, or that it is being loaded, or why it could not be. */
export function Shown<T>({ of, rows, children }: { of: Loaded<T>; rows?: number; children: (data: T) => ComponentChildren }) {
  if (of.data === undefined) return of.error !== undefined ? <Trouble error={of.error} retry={of.reload} /> : <Waiting rows={rows ?? 4} />;
  return (
    <>
      {of.error !== undefined && <Trouble error={of.error} retry={of.reload} />}
      {children(of.data)}
    </>
  );
}
