// Package webhook sends one delivery to one receiver. It defines the addresses that a receiver may have. It signs deliveries as Standard Webhooks
// defines, and reports the result in one word from a fixed set. Other packages decide on content, time and retries.
//
// # Allowed receivers
//
// A tenant with the right to write webhooks chooses an address, and this server connects to it. So the package checks the address twice. CheckURL
// checks the URL as it is written. The dialer checks the address again after the name was resolved. So an attacker gains nothing from a name that
// later resolves to another address. Public addresses require TLS, and the operator's networks do not. The client follows no redirects and uses no
// proxies.
//
// # Information in an outcome
//
// An Outcome contains no text from a resolver or a receiver. The outcome is the same for a name without an address and for a name with a forbidden
// address, so that a caller cannot find out which internal names exist.
package webhook
