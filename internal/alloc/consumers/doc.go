// Package consumers is the use cases on consumers, which use claims: made, renewed, attached, detached and ended.
package consumers
