/**
 * Bounds the repeats of a call.
 *
 * Repeated is what ended without an answer, and what was answered with 429, 503, or 502 and 504 by something before the
 * server, where the request may be carried out twice: GET; a POST with an Idempotency-Key; a PUT without If-Match; a DELETE
 * with If-Match; a PATCH with If-Match: *; every dry run. Others are repeated as long as no attempt can have been carried
 * out. The not_found of a repeated DELETE is its success. All times are in milliseconds.
 */
export interface RetryPolicy {
  /** How often a call is tried, the first time included. 1 repeats nothing. */
  readonly attempts: number;
  /** The pause after the first attempt, of which up to a half is taken off by chance. Each pause is four times the one before. */
  readonly firstPause: number;
  /** Bounds a pause. Retry-After is waited for; who is asked to wait for longer than this gives up. */
  readonly longestPause: number;
  /** Bounds one attempt, so that a server that went silent is asked again. */
  readonly attemptTimeout: number;
  /** Is told before each pause. */
  readonly onRepeat?: (repeat: Repeat) => void;
}

/** One attempt that is going to be repeated. */
export interface Repeat {
  readonly method: string;
  readonly url: string;
  readonly reason: string;
  readonly attempt: number;
  readonly pause: number;
}

/**
 * Five attempts within a minute. The pauses are 7 s to 14 s together, so a call waits for a server that restarts and refuses connections
 * meanwhile. An attempt has more time than the server's own deadline for a request.
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
 * How long to wait after an attempt, and whether that is within bounds. Half of it is chance, so that many who were refused
 * together do not come back together; never is it less than the server asks for.
 */
export function pauseAfter(policy: RetryPolicy, attempt: number, answer: Response | undefined): { pause: number; bounded: boolean } {
  const full = Math.min(policy.firstPause * 4 ** (attempt - 1), policy.longestPause);
  const asked = (retryAfter(answer) ?? 0) * 1000;
  return { pause: Math.max(full / 2 + (Math.random() * full) / 2, asked), bounded: asked <= policy.longestPause };
}

/** What an answer asks to wait for, in seconds: a number, as Carve says, or a date, as something before it may. */
export function retryAfter(answer: Response | undefined): number | undefined {
  const value = answer?.headers.get("Retry-After");
  if (value === null || value === undefined) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

/** Waits, unless the signal ends it before: then it throws the signal's reason. */
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
