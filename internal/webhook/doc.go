// Package webhook sends one delivery to one receiver. It defines the allowed addresses of receivers, signs as Standard Webhooks defines, and reports
// the result as a fixed word. Other packages decide on content, time and retries.
//
// # Allowed receivers
//
// A tenant with the right to write webhooks chooses an address that this server connects to. So the package checks the address twice: as it is written
// (CheckURL), and at connection time, after the name was resolved. A name that resolves differently the second time therefore gains nothing. Public
// addresses require TLS; the operator's networks do not. The client follows no redirects and uses no proxies.
//
// # Information in an outcome
//
// An Outcome contains no text from a resolver or a receiver. A name without an address and a name with a forbidden address have the same outcome, so
// that a caller cannot find out which internal names exist.
package webhook
