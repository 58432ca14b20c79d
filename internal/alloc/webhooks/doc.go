// Package webhooks has what changes in projects sent to URLs: webhooks, what could not be delivered, and what the background does about it (ADR 34).
package webhooks
