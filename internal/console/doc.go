// Package console serves the web console: its files, which are in the binary if they were built before it, and its sessions.
//
// A signed-in browser has a session token in a cookie that no script can read. The console sends it with requests to the API, together with a header
// that pages of other origins cannot send (internal/api/auth). The browser stores no keys or tokens, and the database stores no secret of a key.
package console
