// Package claims is claims: alone, in groups, and in batches.
package claims
