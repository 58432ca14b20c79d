// Package quota is quotas, and the ledger that keeps them.
package quota
