import { readProblem, Whole } from "./problem.js";
import { pauseAfter, wait, type RetryPolicy } from "./retry.js";
import { canResend, isIdempotent, outcomeUnknown, shouldRetry, type Outcome } from "./safe.js";

/** The outcome of a call. */
export interface Ending {
  readonly outcome: Outcome;
  readonly attempts: number;
  readonly mayBeDone: boolean;
}

/**
 * Sends a request and retries it where that is safe and may help. It reads the whole body of a response; a response that breaks off counts as a
 * failure. It ends when the signal aborts, and starts no pause that outlasts the deadline (as in Date.now()).
 */
export async function repeat(
  send: typeof fetch,
  request: Request,
  policy: RetryPolicy,
  signal: AbortSignal,
  deadline: number,
): Promise<Ending> {
  const body = request.body === null ? null : await request.arrayBuffer();
  let open = false;
  for (let attempts = 1; ; attempts++) {
    const outcome = await attempt(send, request, body, policy.attemptTimeout, signal);
    const answer = "answer" in outcome ? outcome.answer : undefined;
    if (open && request.method === "DELETE" && answer?.response.status === 404 && readProblem(answer)?.code === "not_found") {
      // An earlier attempt, or another client, has deleted the object. Either way the caller has the result that it asked for.
      const gone = new Whole(new Response(null, { status: 204, headers: answer.response.headers }), new ArrayBuffer(0));
      return { outcome: { answer: gone }, attempts, mayBeDone: false };
    }
    open = outcomeUnknown(open, request, outcome);
    const end: Ending = { outcome, attempts, mayBeDone: open };
    const reason = signal.aborted ? undefined : shouldRetry(outcome);
    const { pause, bounded } = pauseAfter(policy, attempts, answer?.response);
    if (reason === undefined || !bounded || attempts >= policy.attempts || !canResend(request) || Date.now() + pause >= deadline) {
      return end;
    }
    if (open && !isIdempotent(request)) return end;
    policy.onRepeat?.({ method: request.method, url: request.url, reason, attempt: attempts, pause });
    try {
      await wait(pause, signal);
    } catch (failure) {
      return { outcome: { failure }, attempts, mayBeDone: open };
    }
  }
}

async function attempt(
  send: typeof fetch,
  request: Request,
  body: ArrayBuffer | null,
  timeout: number,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    const once = new Request(request.url, {
      method: request.method,
      headers: request.headers,
      body,
      // It would take the credential elsewhere, and make a GET of a POST.
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
    });
    const response = await send(once);
    return { answer: new Whole(response, await response.arrayBuffer()) };
  } catch (failure) {
    return { failure };
  }
}
