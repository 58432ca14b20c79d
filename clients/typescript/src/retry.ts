/**
 * Bounds the retries of a call. All times are in milliseconds.
 *
 * A call is retried if it gets no response, a 429, a 503, or a 502 or 504 from a proxy. The request must be one that the server may carry out twice:
 * GET; a POST with an Idempotency-Key; a PUT without a precondition; a DELETE with an ETag in If-Match; a PATCH with If-Match: *; every dry run.
 * Other requests, except a POST, are retried as long as no attempt can have been carried out. A retried DELETE that gets not_found succeeds.
 */
export interface RetryPolicy {
  /** The highest number of attempts, including the first. 1 means no retry. */
  readonly attempts: number;
  /** The pause after the first attempt, of which a random part, up to a half, is subtracted. Each pause is four times the one before. */
  readonly firstPause: number;
  /** Bounds a pause. The client waits as long as Retry-After asks, but gives up if that is longer than longestPause. */
  readonly longestPause: number;
  /** Bounds one attempt, so that the client retries when a server hangs. */
  readonly attemptTimeout: number;
  /** Is called before each pause. */
  readonly onRepeat?: (repeat: Repeat) => void;
}

/** An attempt that will be retried. */
export interface Repeat {
  readonly method: string;
  readonly url: string;
  readonly reason: string;
  readonly attempt: number;
  readonly pause: number;
}

/**
 * Five attempts. The pauses add up to 7 s to 14 s, so a call outlasts a server that restarts and refuses connections meanwhile. attemptTimeout is
 * longer than the server's own deadline for a request.
 */
export const defaultRetry: RetryPolicy = { attempts: 5, firstPause: 200, longestPause: 10_000, attemptTimeout: 15_000 };

export function checkRetry(policy: RetryPolicy): RetryPolicy {
  const { attempts, firstPause, longestPause, attemptTimeout } = policy;
  if (!(attempts >= 1) || !(firstPause >= 0) || !(longestPause >= 0) || !(attemptTimeout > 0)) {
    throw new RangeError("carve: a retry policy needs at least one attempt, and no negative times");
  }
  return policy;
}

/**
 * Returns the time to wait after an attempt, and whether the server's Retry-After is within longestPause. Half of the pause is random, so that
 * clients that were refused together do not return together. The pause is never shorter than Retry-After.
 */
export function pauseAfter(policy: RetryPolicy, attempt: number, answer: Response | undefined): { pause: number; bounded: boolean } {
  const full = Math.min(policy.firstPause * 4 ** (attempt - 1), policy.longestPause);
  const asked = (retryAfter(answer) ?? 0) * 1000;
  return { pause: Math.max(full / 2 + (Math.random() * full) / 2, asked), bounded: asked <= policy.longestPause };
}

/** Returns the wait that a response asks for, in seconds. Carve sends seconds; a proxy may send a date. */
export function retryAfter(answer: Response | undefined): number | undefined {
  const value = answer?.headers.get("Retry-After");
  if (value === null || value === undefined) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

/** Waits. If the signal aborts first, it rejects with the signal's reason. */
export function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", end);
      resolve();
    }, milliseconds);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
