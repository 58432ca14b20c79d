import type { Problem, ProblemCode, ProblemOf } from "./problem.js";

/** Facts about a call that did not succeed. */
export interface Circumstances {
  readonly method: string;
  readonly path: string;
  /** HTTP status of the last response, or 0 if there was none. */
  readonly status: number;
  /** The number of times that the request was sent. */
  readonly attempts: number;
  /**
   * The client cannot know whether the server carried out the request. It is safe to repeat the call with the same Idempotency-Key or the same name:
   * the server carries it out once. A POST that takes no key can be repeated as well. For any other request, read first.
   */
  readonly mayBeDone: boolean;
  /** The key that was sent with a POST. */
  readonly idempotencyKey: string | undefined;
  /** Identifies the last attempt in the server's log. */
  readonly requestId: string | undefined;
  /** The number of seconds that the server asked the client to wait. */
  readonly retryAfter: number | undefined;
}

/** The error of a call: a CarveProblem, a CarveNoAnswer or a CarveForeignAnswer. */
export class CarveError extends Error {
  override readonly name: string = "CarveError";

  constructor(
    message: string,
    readonly call: Circumstances,
    options?: ErrorOptions,
  ) {
    const key = call.idempotencyKey === undefined ? "" : `: repeat it with Idempotency-Key ${call.idempotencyKey}`;
    super(`${call.method} ${call.path}: ${message}${call.mayBeDone ? `; it may have been carried out${key}` : ""}`, options);
  }

  get mayBeDone(): boolean {
    return this.call.mayBeDone;
  }
}

/** A refusal. Switch on its code; the sentences may change. */
export class CarveProblem extends CarveError {
  override readonly name = "CarveProblem";
  readonly code: ProblemCode;
  readonly status: number;
  /** Checking its code narrows it to the figures of that code. */
  readonly problem: ProblemOf;

  constructor(problem: Problem, call: Circumstances) {
    super(`${problem.detail} (${problem.code}, ${problem.status})`, call);
    this.problem = problem as ProblemOf;
    this.code = problem.code;
    this.status = problem.status;
  }
}

/** The call got no complete response; `cause` has the reason. */
export class CarveNoAnswer extends CarveError {
  override readonly name = "CarveNoAnswer";
}

/** The response does not follow the contract: it is a response of a proxy or another server. */
export class CarveForeignAnswer extends CarveError {
  override readonly name = "CarveForeignAnswer";
}

/** Reports whether a thrown value is a refusal, with one of the codes if any are given. */
export function isProblem<C extends ProblemCode = ProblemCode>(
  thrown: unknown,
  ...codes: C[]
): thrown is CarveProblem & { readonly code: C; readonly problem: ProblemOf<C> } {
  return thrown instanceof CarveProblem && (codes.length === 0 || (codes as ProblemCode[]).includes(thrown.code));
}
