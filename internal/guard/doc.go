// Package guard keeps slow and hostile clients of an HTTP server from being at the expense of the others: it bounds how many connections
// are open, and how slowly a body may come. What it bounds is transport; who a caller is and how often it may ask is known further in.
package guard
