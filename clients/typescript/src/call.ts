import { parseBaseUrl } from "./address.js";
import { CarveForeignAnswer, CarveNoAnswer, CarveProblem, type Circumstances } from "./errors.js";
import type { CarveOptions } from "./options.js";
import { readProblem } from "./problem.js";
import { repeat, type Ending } from "./repeat.js";
import { checkRetry, defaultRetry, retryAfter } from "./retry.js";
import { succeeded, takesNoKey } from "./safe.js";
import { contractVersion } from "./version.js";

/** The base URL of a client and the fetch that it uses. */
export interface Calling {
  readonly baseUrl: string;
  readonly fetch: (request: Request) => Promise<Response>;
}

/** Makes a fetch that adds the headers and the key, sends the request with retries, and throws if the response is not a success. */
export function calling(options: CarveOptions): Calling {
  const baseUrl = parseBaseUrl(options.baseUrl, options.insecureHttp ?? false);
  const policy = checkRetry({ ...defaultRetry, ...options.retry });
  const timeout = options.timeout ?? 60_000;
  if (!(timeout > 0)) throw new RangeError("carve: timeout must be more than nothing");
  if (options.apiKey !== undefined && !/^[\x21-\x7e]+$/.test(options.apiKey)) {
    throw new TypeError("carve: apiKey is empty, or contains a space, a control character or a non-ASCII character");
  }
  const send = options.fetch ?? ((...args: Parameters<typeof fetch>) => fetch(...args));

  return {
    baseUrl,
    fetch: async (asked) => {
      const request = new Request(asked, { headers: await headersOf(asked, options) });
      const signal = AbortSignal.any([asked.signal, AbortSignal.timeout(timeout)]);
      const end = await repeat(send, request, policy, signal, Date.now() + timeout);
      if ("answer" in end.outcome && succeeded(request, end.outcome.answer)) return end.outcome.answer.again();
      throw unusable(request, end);
    },
  };
}

async function headersOf(request: Request, options: CarveOptions): Promise<Headers> {
  const headers = new Headers(request.headers);
  const agent = `carve-typescript/${contractVersion}`;
  headers.set("User-Agent", options.userAgent === undefined ? agent : `${options.userAgent} ${agent}`);
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (!headers.has(name) || name.toLowerCase() === "user-agent") headers.set(name, value);
  }
  // Set once for a call, before the first attempt, so that all attempts have the same key and the server returns the result of the first.
  if (request.method === "POST" && !takesNoKey(request) && !headers.has("Idempotency-Key")) {
    headers.set("Idempotency-Key", crypto.randomUUID());
  }
  if (request.method === "PATCH") headers.set("Content-Type", "application/merge-patch+json");
  const credential = options.token === undefined ? options.apiKey : await options.token();
  if (credential !== undefined && !headers.has("Authorization")) headers.set("Authorization", `Bearer ${credential}`);
  return headers;
}

function unusable(request: Request, end: Ending): CarveProblem | CarveNoAnswer | CarveForeignAnswer {
  const answer = "answer" in end.outcome ? end.outcome.answer : undefined;
  const call: Circumstances = {
    method: request.method,
    path: new URL(request.url).pathname,
    status: answer?.response.status ?? 0,
    attempts: end.attempts,
    mayBeDone: end.mayBeDone,
    idempotencyKey: request.headers.get("Idempotency-Key") ?? undefined,
    requestId: answer?.response.headers.get("X-Request-Id") ?? undefined,
    retryAfter: retryAfter(answer?.response),
  };
  if ("failure" in end.outcome) return new CarveNoAnswer(sentence(end.outcome.failure), call, { cause: end.outcome.failure });
  const problem = readProblem(end.outcome.answer);
  if (problem !== undefined && end.outcome.answer.response.status >= 400) return new CarveProblem(problem, call);
  const begin = JSON.stringify(end.outcome.answer.text().slice(0, 200));
  return new CarveForeignAnswer(`${new URL(request.url).host} does not answer like a Carve server (${call.status}): ${begin}`, call);
}

/** The message of fetch is only "fetch failed"; the cause has the reason. */
function sentence(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  const cause = failure.cause instanceof Error ? failure.cause : undefined;
  const why = cause?.message || (cause !== undefined && "code" in cause ? String(cause.code) : "");
  return why === "" ? failure.message : `${failure.message}: ${why}`;
}
