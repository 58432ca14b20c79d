import type { Problem, ProblemCode, ProblemOf } from "./problem.js";

/** What is known of a call that has no answer to use. */
export interface Circumstances {
  readonly method: string;
  readonly path: string;
  /** Status of the last answer; 0 when there was none. */
  readonly status: number;
  /** How often the request was sent. */
  readonly attempts: number;
  /**
   * Nobody knows whether the request was carried out. Repeat it with the same Idempotency-Key, or the same name: it is
   * carried out once. Without either, read first.
   */
  readonly mayBeDone: boolean;
  /** The one that was sent with a POST. */
  readonly idempotencyKey: string | undefined;
  /** Names the last attempt in the server's log. */
  readonly requestId: string | undefined;
  /** How many seconds the server asked to wait, if it did. */
  readonly retryAfter: number | undefined;
}

/** A call that has no answer to use: a CarveProblem, a CarveNoAnswer or a CarveForeignAnswer. */
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
  /** A test of its code narrows it to the figures of that code. */
  readonly problem: ProblemOf;

  constructor(problem: Problem, call: Circumstances) {
    super(`${problem.detail} (${problem.code}, ${problem.status})`, call);
    this.problem = problem as ProblemOf;
    this.code = problem.code;
    this.status = problem.status;
  }
}

/** There was no answer, or not to its end; `cause` says why. */
export class CarveNoAnswer extends CarveError {
  override readonly name = "CarveNoAnswer";
}

/** An answer that is not of the contract: a proxy's, or another server's. */
export class CarveForeignAnswer extends CarveError {
  override readonly name = "CarveForeignAnswer";
}

/** Whether something thrown is a refusal, with one of these codes if any are given. */
export function isProblem<C extends ProblemCode = ProblemCode>(
  thrown: unknown,
  ...codes: C[]
): thrown is CarveProblem & { readonly code: C; readonly problem: ProblemOf<C> } {
  return thrown instanceof CarveProblem && (codes.length === 0 || (codes as ProblemCode[]).includes(thrown.code));
}
