package crdb

import (
	"context"
	"errors"

	"github.com/carve-ipam/carve/internal/alloc/storage"
)

// Isolation asks the database for the level of the transaction.
func Isolation(ctx context.Context, t storage.Tx) (string, error) {
	own, ok := t.(*tx)
	if !ok {
		return "", errors.New("not a transaction of this package")
	}
	var level string
	rows, err := own.conn.Query(ctx, "SELECT current_setting('transaction_isolation')")
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&level); err != nil {
			return "", err
		}
	}
	return level, rows.Err()
}

// SessionSettings are those of the store's sessions on PostgreSQL.
func SessionSettings() map[string]string { return postgres{}.settings() }

// DurableStatements are those that PostgreSQL is asked by whether what can be seen is durable.
func DurableStatements() (ask, write string) { return postgres{}.durable() }

// Patience is for the URL of a database whose transactions a test makes wait: it ends none of them for that, however slow the machine is.
const Patience = "&idle_in_transaction_session_timeout=300s&lock_timeout=300s&statement_timeout=300s"

// QueuedForConnections is how many transactions wait for a connection of their project's share.
func (s *Store) QueuedForConnections() int { return s.shares.changing.Queued() }
