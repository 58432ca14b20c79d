// Package quota contains the use cases for quotas, and the ledger that applies them in a transaction.
package quota
