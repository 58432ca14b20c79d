import type { components } from "./schema.js";

type Schemas = components["schemas"];

/** The body of a request of a webhook. Answer a type that you do not know with a success: a later server may have more. */
export type WebhookMessage =
  | {
      readonly type: "changes";
      readonly webhook: string;
      readonly project: string;
      /** In their order. */
      readonly changes: readonly Schemas["Change"][];
      readonly cursor: string;
    }
  /** Changes are missing and will not come: list again, and go on with what is sent from then on. */
  | { readonly type: "resync"; readonly webhook: string; readonly project: string; readonly cursor: string };

/** What a request of a webhook has brought. */
export interface WebhookDelivery {
  /** The same whenever the delivery is repeated: who has seen it has nothing to do. */
  readonly id: string;
  /** When this attempt was sent, to the second. */
  readonly sentAt: Date;
  readonly message: WebhookMessage;
}

/** Headers as `fetch` has them, or as Node has them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Why a request is not believed: `signature`, it lacks a header or no secret made its signature; `time`, it was not sent within the tolerance. */
export class WebhookUntrusted extends Error {
  override readonly name = "WebhookUntrusted";

  constructor(readonly reason: "signature" | "time") {
    super(`carve: the request of a webhook is not believed because of its ${reason}`);
  }
}

const shortestKey = 24; // bytes: what Standard Webhooks asks for

/**
 * Reads a request that one of the secrets has signed. There are several while a webhook is replaced by another. Give the body as it came, byte for
 * byte. The time of the request may be `toleranceSeconds` from this machine's, 300 if it is left out.
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

/** A secret that is none is an error of whoever configured it, whatever was sent. */
async function keyOf(secret: string, at: number): Promise<CryptoKey> {
  const key = decode(secret.replace(/^whsec_/, ""));
  if (key === undefined || key.length < shortestKey) throw new TypeError(`carve: webhook secret ${at + 1} is not as the server answered it`);
  return crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

/** Whether one of the keys made one of the signatures. */
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
