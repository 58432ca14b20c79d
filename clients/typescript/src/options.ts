import type { RetryPolicy } from "./retry.js";

/** Settings of a client. */
export interface CarveOptions {
  /** The server, such as https://carve.example.com. Plain http is refused but for this machine: see insecureHttp. */
  readonly baseUrl: string;
  /** An API key, carve_<id>_<secret>. */
  readonly apiKey?: string | undefined;
  /** Is asked at every call for the credential, when it changes: an API key, or the JWT of an OpenID Connect issuer. */
  readonly token?: (() => string | Promise<string>) | undefined;
  /** Are sent with every request that does not set them itself. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Replaces parts of defaultRetry. */
  readonly retry?: Partial<RetryPolicy> | undefined;
  /** Bounds a call with all its repeats, in milliseconds; a minute unless it is given. */
  readonly timeout?: number | undefined;
  /** Names the program that calls, before this client: "deployer/1.4". Browsers do not let it be set. */
  readonly userAgent?: string | undefined;
  /** Allows plain http to another machine, where everybody on the way can read the credential. */
  readonly insecureHttp?: boolean | undefined;
  /** Sends requests instead of the global fetch. */
  readonly fetch?: typeof fetch | undefined;
}
