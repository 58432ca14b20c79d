import type { RetryPolicy } from "./retry.js";

/** Settings of a client. */
export interface CarveOptions {
  /** The server, such as https://carve.example.com. Plain http is refused except to this machine; see insecureHttp. */
  readonly baseUrl: string;
  /** An API key, carve_<id>_<secret>. */
  readonly apiKey?: string | undefined;
  /** Returns the credential and is called at every call, for credentials that change: an API key, or the JWT of an OpenID Connect issuer. */
  readonly token?: (() => string | Promise<string>) | undefined;
  /** Headers for every request that does not set them itself. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Replaces parts of defaultRetry. */
  readonly retry?: Partial<RetryPolicy> | undefined;
  /** Bounds a call with all its retries, in milliseconds. The default is a minute. */
  readonly timeout?: number | undefined;
  /** The name of the calling program, such as "deployer/1.4", which precedes this client's in User-Agent. Browsers do not allow setting it. */
  readonly userAgent?: string | undefined;
  /** Allows plain http to another machine. The network can then read the credential. */
  readonly insecureHttp?: boolean | undefined;
  /** Sends requests instead of the global fetch. */
  readonly fetch?: typeof fetch | undefined;
}
