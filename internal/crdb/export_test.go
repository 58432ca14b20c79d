package crdb

import (
	"context"
	"errors"

	"github.com/carve-ipam/carve/internal/alloc/storage"
)

// Isolation returns the isolation level that the database reports for the transaction.
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

// SessionSettings returns the session parameters of the engine for PostgreSQL.
func SessionSettings() map[string]string { return postgres{}.settings() }

// DurableStatements returns the statements with which PostgreSQL confirms that visible data are durable.
func DurableStatements() (ask, write string) { return postgres{}.durable() }

// Patience is a suffix for a database URL. It raises PostgreSQL's timeouts, so that they end no transaction of a slow test.
const Patience = "&idle_in_transaction_session_timeout=300s&lock_timeout=300s&statement_timeout=300s"

// QueuedForConnections returns the number of transactions that wait for a connection of their project's share.
func (s *Store) QueuedForConnections() int { return s.shares.changing.Queued() }
