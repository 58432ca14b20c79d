package crdb

import (
	"time"

	"github.com/jackc/pgx/v5"
)

// PostgreSQL has no replicas to read from, so the read is current. Its snapshot is taken after BEGIN, and now() is BEGIN's time. So the snapshot
// contains everything that was committed by now().
const (
	beginReading       = "begin isolation level repeatable read read only"
	beginTimeStatement = "SELECT now()"
)

func (postgres) behind() (begin, ask string) { return beginReading, beginTimeStatement }

func (postgres) moment(row pgx.Row) (at time.Time, err error) {
	err = row.Scan(&at)
	return at.UTC(), err
}
