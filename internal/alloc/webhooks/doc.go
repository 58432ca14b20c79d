// Package webhooks sends the changes in projects to URLs: the use cases for webhooks and undeliverable messages, and the background job that sends
// (ADR 34).
package webhooks
