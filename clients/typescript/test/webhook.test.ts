import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { mock, test } from "node:test";

import { verifyWebhook, WebhookUntrusted, type WebhookHeaders } from "../src/index.js";

// A request as a server sent it; client/webhook/verify_test.go writes the file. npm runs tests in the folder of the package.
const vector = JSON.parse(readFileSync("../../client/webhook/testdata/delivery.json", "utf8")) as {
  secret: string;
  headers: Record<string, string>;
  body: string;
};
const sent = Number(vector.headers["Webhook-Timestamp"]);
const other = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

mock.timers.enable({ apis: ["Date"], now: sent * 1000 });

/** Returns the headers of the vector with changes. */
const but = (changes: Record<string, string | undefined>) => ({ ...vector.headers, ...changes });
const untrusted = (reason: string) => (thrown: unknown) => thrown instanceof WebhookUntrusted && thrown.reason === reason;

test("a message of the server is read", async () => {
  const bytes = new TextEncoder().encode(vector.body);
  const lower = Object.fromEntries(Object.entries(vector.headers).map(([name, value]) => [name.toLowerCase(), [value]]));
  for (const headers of [vector.headers, lower, new Headers(vector.headers)] satisfies WebhookHeaders[]) {
    for (const body of [vector.body, bytes, Buffer.from(bytes)]) {
      const { id, sentAt, message } = await verifyWebhook(vector.secret, headers, body);
      assert.equal(id, "0195c2a4-7b10-7c3e-8f21-5d6e7f809112");
      assert.equal(sentAt.toISOString(), "2026-03-02T09:30:05.000Z");
      assert.ok(message.type === "changes");
      assert.deepEqual([message.webhook, message.project, message.cursor], ["inventory", "team-a", "AQIDBA"]);
      assert.deepEqual(
        message.changes.map((c) => [c.kind, c.name, c.type, c.object]),
        [
          ["IPClaim", "web-eu", "Put", { metadata: { name: "web-eu", labels: { wohin: "Köln" } } }],
          ["IPClaim", "web-us", "Delete", undefined],
        ],
      );
    }
  }
  await verifyWebhook([other, vector.secret], vector.headers, vector.body);
  const among = but({ "Webhook-Signature": `v1,AAAA v1a,BBBB v1,? ${vector.headers["Webhook-Signature"]}` });
  await verifyWebhook(vector.secret, among, vector.body);
});

test("a forged request is refused", async () => {
  const signature = vector.headers["Webhook-Signature"] ?? "";
  const wrong: [string | string[], WebhookHeaders, string][] = [
    [[], vector.headers, vector.body],
    [other, vector.headers, vector.body],
    [vector.secret, vector.headers, `${vector.body} `],
    [vector.secret, {}, vector.body],
    [vector.secret, but({ "Webhook-Id": undefined }), vector.body],
    [vector.secret, but({ "Webhook-Id": "other" }), vector.body],
    [vector.secret, but({ "Webhook-Timestamp": "" }), vector.body],
    [vector.secret, but({ "Webhook-Timestamp": `${sent + 1}` }), vector.body],
    [vector.secret, but({ "Webhook-Timestamp": "now" }), vector.body],
    [vector.secret, but({ "Webhook-Signature": undefined }), vector.body],
    [vector.secret, but({ "Webhook-Signature": `v2${signature.slice(2)}` }), vector.body],
    [vector.secret, but({ "Webhook-Signature": signature.slice(3) }), vector.body],
    [vector.secret, but({ "Webhook-Signature": signature.slice(0, 19) }), vector.body],
    [vector.secret, but({ "Webhook-Signature": "v1," }), vector.body],
  ];
  for (const [secrets, headers, body] of wrong) await assert.rejects(verifyWebhook(secrets, headers, body), untrusted("signature"));
  for (const none of ["", "whsec_", "whsec_AAAA", "whsec_?", "secret"]) {
    await assert.rejects(verifyWebhook([vector.secret, none], vector.headers, vector.body), TypeError);
  }
});

test("a request outside the time tolerance is refused", async (t) => {
  t.after(() => mock.timers.setTime(sent * 1000));
  for (const [seconds, tolerance, believed] of [
    [300, undefined, true],
    [301, undefined, false],
    [-300, undefined, true],
    [-301, undefined, false],
    [10, { toleranceSeconds: 9 }, false],
    [3600, { toleranceSeconds: 3600 }, true],
    [0, { toleranceSeconds: NaN }, false],
  ] as const) {
    mock.timers.setTime((sent + seconds) * 1000);
    const verified = verifyWebhook(vector.secret, vector.headers, vector.body, tolerance);
    await (believed ? verified : assert.rejects(verified, untrusted("time")));
  }
});

test("an unknown message type is accepted, and invalid JSON is refused", async () => {
  const key = Buffer.from(other.slice("whsec_".length), "base64");
  const sign = (body: string) => ({
    "webhook-id": "1",
    "webhook-timestamp": `${sent}`,
    "webhook-signature": `v1,${createHmac("sha256", key).update(`1.${sent}.${body}`).digest("base64")}`,
  });
  const resync = '{"type":"resync","webhook":"inventory","project":"team-a","cursor":"AQ"}';
  assert.equal((await verifyWebhook(other, sign(resync), resync)).message.type, "resync");
  await assert.rejects(verifyWebhook(other, sign("no JSON"), "no JSON"), SyntaxError);
});
