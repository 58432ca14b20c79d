import type { components } from "./schema.js";

type Schemas = components["schemas"];

/** The body of a webhook's request. Respond to an unknown type with success: a later server may have more types. */
export type WebhookMessage =
  | {
      readonly type: "changes";
      readonly webhook: string;
      readonly project: string;
      /** In order. */
      readonly changes: readonly Schemas["Change"][];
      readonly cursor: string;
    }
  /** Changes are lost and will not be sent: list again, and apply the messages sent after this one. */
  | { readonly type: "resync"; readonly webhook: string; readonly project: string; readonly cursor: string };

/** A verified request of a webhook. */
export interface WebhookDelivery {
  /** The same in every retry of the delivery, to detect duplicates. */
  readonly id: string;
  /** Time of this attempt, in whole seconds. */
  readonly sentAt: Date;
  readonly message: WebhookMessage;
}

/** Headers in the form of `fetch` or of Node. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The error for an untrusted request. `signature`: it lacks a header, or none of the secrets signed it. `time`: it was not sent within the tolerance.
 */
export class WebhookUntrusted extends Error {
  override readonly name = "WebhookUntrusted";

  constructor(readonly reason: "signature" | "time") {
    super(`carve: the request of a webhook is not believed because of its ${reason}`);
  }
}

const shortestKey = 24; // bytes, as Standard Webhooks requires

/**
 * Reads a request that one of the secrets has signed. Pass several secrets while one webhook replaces another. The body must be the exact bytes
 * received. The request's time may differ from this machine's clock by `toleranceSeconds`, by default 300.
 */
export async function verifyWebhook(
  secrets: string | readonly string[],
  headers: WebhookHeaders,
  body: string | Uint8Array,
  { toleranceSeconds = 300 }: { readonly toleranceSeconds?: number } = {},
): Promise<WebhookDelivery> {
  const keys = await Promise.all((typeof secrets === "string" ? [secrets] : secrets).map(keyOf));
  const [id, time, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => header(headers, name));
  if (!id || !time || !/^\d{1,12}$/.test(time) || !signatures) throw new WebhookUntrusted("signature");
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  if (!(await signed(keys, signatures, join(`${id}.${time}.`, bytes)))) throw new WebhookUntrusted("signature");
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= toleranceSeconds)) throw new WebhookUntrusted("time");
  const message = JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body)) as WebhookMessage;
  return { id, sentAt: new Date(Number(time) * 1000), message };
}

/** An invalid secret is a configuration error, whatever the request is. */
async function keyOf(secret: string, at: number): Promise<CryptoKey> {
  const key = decode(secret.replace(/^whsec_/, ""));
  if (key === undefined || key.length < shortestKey) {
    throw new TypeError(`carve: webhook secret ${at + 1} is malformed: use the secret exactly as the server returned it`);
  }
  return crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

/** Reports whether one of the keys made one of the signatures. */
async function signed(keys: readonly CryptoKey[], signatures: string, text: Uint8Array<ArrayBuffer>): Promise<boolean> {
  for (const versioned of signatures.split(" ")) {
    const [version, signature = ""] = versioned.split(",");
    const bytes = version === "v1" ? decode(signature) : undefined;
    if (bytes === undefined) continue;
    for (const key of keys) if (await crypto.subtle.verify("HMAC", key, bytes, text)) return true;
  }
  return false;
}

function header(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return typeof value === "string" ? value : value?.[0];
}

function join(head: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const start = new TextEncoder().encode(head);
  const whole = new Uint8Array(start.length + body.length);
  whole.set(start);
  whole.set(body, start.length);
  return whole;
}

function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
