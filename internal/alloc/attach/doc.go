// Package attach is what a transaction that makes or changes claims does to the consumers that use them.
package attach
