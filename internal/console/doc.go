// Package console serves the web console: its files, which are part of the binary when they were built before it, and who is signed in.
//
// A browser that has signed in holds the name of a session in a cookie that no script can read. Requests to the API are made with it, and with a header that
// pages of other origins cannot send (internal/api/auth). Of keys and tokens nothing is left in the browser, and of keys' secrets nothing in the database.
package console
