// Package resolve finds the pools that may serve a claim.
package resolve
