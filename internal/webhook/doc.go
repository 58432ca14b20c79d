// Package webhook sends one delivery to one receiver: it says what the address of a receiver may be, signs as Standard Webhooks has it, and says
// in one fixed word how it ended. What is sent, when and how often is decided elsewhere.
//
// # Where a delivery may go
//
// Whoever may write a webhook chooses where this server connects to. So the address is looked at twice: as it is written (CheckURL), and when a
// connection is made, after the name was resolved, so that a name that answers differently the second time gains nothing. Public addresses may
// be reached with TLS alone; the operator's networks also without. Redirects and proxies are not followed.
//
// # What an outcome reveals
//
// An Outcome has no text from a resolver or a receiver. A name without an address and a name with a forbidden address have the
// same outcome: a caller cannot find out which internal names exist.
package webhook
