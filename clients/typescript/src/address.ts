/** Checks a base URL and returns it without a slash at its end. Its errors do not contain a password. */
export function parseBaseUrl(text: string, insecureHttp: boolean): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new TypeError("carve: baseUrl must be like https://carve.example.com");
  }
  if ((url.protocol !== "http:" && url.protocol !== "https:") || url.search !== "" || url.hash !== "") {
    throw new TypeError("carve: baseUrl must be like https://carve.example.com, without a query");
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError("carve: baseUrl holds a credential; give it as apiKey or in headers");
  }
  if (url.protocol === "http:" && !insecureHttp && !isLoopback(url.hostname)) {
    throw new TypeError(
      `carve: ${url.origin} is plain http, where everybody on the way can read the credential: ` +
        "use https, or set insecureHttp if that network is yours alone",
    );
  }
  return url.href.replace(/\/+$/, "");
}

/** Reports whether a host is this machine. It decides by the name or address alone and makes no DNS lookup. */
function isLoopback(host: string): boolean {
  // URL has normalized the address: 127.1 is 127.0.0.1 here, and IPv6 is in brackets.
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host) || /^\[::ffff:7f[0-9a-f]{2}:/.test(host);
}
