// Package webhooks sends the changes in projects to URLs (ADR 34). It contains the use cases for webhooks and for undeliverable messages, and the
// background job that sends the messages.
package webhooks
