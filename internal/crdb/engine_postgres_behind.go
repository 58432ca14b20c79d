package crdb

import (
	"time"

	"github.com/jackc/pgx/v5"
)

// There are no copies to follow: the read is of now. Its snapshot is taken after the BEGIN whose time now() is, and so has all that was committed by then.
const (
	beginReading = "begin isolation level repeatable read read only"
	askBegun     = "SELECT now()"
)

func (postgres) behind() (begin, ask string) { return beginReading, askBegun }

func (postgres) moment(row pgx.Row) (at time.Time, err error) {
	err = row.Scan(&at)
	return at.UTC(), err
}
