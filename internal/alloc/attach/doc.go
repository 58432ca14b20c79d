// Package attach contains the changes to consumers in a transaction that creates or changes claims.
package attach
