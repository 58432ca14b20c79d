// Package holdings is allocations: what is held, and by whom.
package holdings
