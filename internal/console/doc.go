// Package console serves the web console: its files and its sessions. The binary contains the files only if they were built before the binary.
//
// A signed-in browser has a session token in a cookie that no script can read. The console's requests to the API carry the cookie, and a header that
// pages from other origins cannot send (internal/api/auth). The browser stores no API keys and no issuers' tokens. The database does not store the
// secrets of keys.
package console
