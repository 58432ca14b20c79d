import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { createCarve, type Carve, type CarveOptions } from "../src/index.js";

/** The server that the tests use; test/with-server.sh starts it. */
export const direct = process.env["CARVE_SERVER"] ?? "";
if (direct === "") throw new Error("CARVE_SERVER is not set: make client-ts-test");

/** A recorded request. */
export interface Seen {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
}

/**
 * A proxy that loses responses. The server carries out the request, the proxy reads the whole response, and then it cuts the connection: before the
 * first byte of the response or in the middle of its body.
 */
export class Between implements AsyncDisposable {
  #losses = 0;
  #midway = false;
  #only = "";
  lost: string[] = [];
  seen: Seen[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Between> {
    const server = createServer();
    const between = new Between(server);
    server.on("request", (request, response) => {
      void between.#pass(request).then((answer) => {
        if (answer.fate === "cut") {
          response.destroy();
          return;
        }
        response.writeHead(answer.status, answer.headers);
        if (answer.fate === "midway") {
          response.write(answer.body.subarray(0, answer.body.length / 2), () => response.destroy());
          return;
        }
        response.end(answer.body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return between;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Sets how many of the next responses are lost, optionally those to one method, and resets the records. */
  lose(losses: number, { midway = false, only = "" } = {}): void {
    [this.#losses, this.#midway, this.#only, this.lost, this.seen] = [losses, midway, only, [], []];
  }

  async #pass(request: IncomingMessage): Promise<{ fate: "cut" | "midway" | "whole"; status: number; headers: Record<string, string>; body: Buffer }> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { method = "", headers } = request;
    const { host: _host, connection: _connection, "content-length": _length, ...others } = headers;
    const sent = await fetch(direct + request.url, {
      method,
      headers: others as Record<string, string>,
      body: parts.length === 0 ? null : Buffer.concat(parts),
    });
    const body = Buffer.from(await sent.arrayBuffer());
    this.seen.push({ method, url: new URL(request.url ?? "", direct), headers });
    const answered = Object.fromEntries([...sent.headers].filter(([name]) => name !== "content-encoding" && name !== "transfer-encoding"));
    if (sent.status !== 204) answered["content-length"] = String(body.length);
    let fate: "cut" | "midway" | "whole" = "whole";
    if (this.#losses > 0 && (this.#only === "" || this.#only === method)) {
      this.#losses--;
      this.lost.push(body.toString());
      fate = this.#midway ? "midway" : "cut";
    }
    return { fate, status: sent.status, headers: answered, body };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Creates a project with a pool, a client, and a proxy between client and server. */
export async function setUp(options: Partial<CarveOptions> = {}): Promise<{ carve: Carve; between: Between; project: string }> {
  const between = await Between.start();
  const carve = createCarve({ baseUrl: between.url, retry: { firstPause: 1, attemptTimeout: 120_000 }, ...options });
  const made = await carve.POST("/v1/projects", { body: { metadata: { generateName: "ts-" } } });
  const project = made.data.metadata.name;
  await carve.POST("/v1/projects/{project}/pools", {
    params: { path: { project } },
    body: { metadata: { name: "prod" }, spec: { cidr: "10.20.0.0/16" } },
  });
  between.lose(0);
  return { carve, between, project };
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Lists every claim of a project, directly from the server. */
export function claimsOf(project: string) {
  return all(createCarve({ baseUrl: direct }).items("/v1/projects/{project}/claims", { params: { path: { project } } }));
}
