// Package consumers contains the use cases on consumers, which use claims: create, renew, attach, detach and end them.
package consumers
