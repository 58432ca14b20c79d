package crdb

import (
	"time"

	"github.com/jackc/pgx/v5"
)

// These statements begin a read that may be stale, and ask for its time. PostgreSQL has no replicas here, so the read is current. now() is the time
// of BEGIN, and the snapshot is taken after BEGIN. So the snapshot contains everything that was committed before now().
const (
	beginReading       = "begin isolation level repeatable read read only"
	beginTimeStatement = "SELECT now()"
)

func (postgres) staleRead() (begin, ask string) { return beginReading, beginTimeStatement }

func (postgres) moment(row pgx.Row) (at time.Time, err error) {
	err = row.Scan(&at)
	return at.UTC(), err
}
