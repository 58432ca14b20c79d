package crdb

import (
	"fmt"
	"math/big"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// These statements begin a read at a past time, and ask for that time. The nearest replica can serve such a read, because no transaction can write at
// that time any more. BEGIN fixes the timestamp for the whole transaction. The timestamp counts nanoseconds. Its fraction counts events within one
// nanosecond.
const (
	beginStaleRead = "begin transaction isolation level serializable, read only, as of system time follower_read_timestamp()"
	clockStatement = "SELECT cluster_logical_timestamp()"
)

func (cockroach) staleRead() (begin, ask string) { return beginStaleRead, clockStatement }

func (cockroach) moment(row pgx.Row) (time.Time, error) {
	var n pgtype.Numeric
	if err := row.Scan(&n); err != nil {
		return time.Time{}, err
	}
	if !n.Valid || n.NaN || n.InfinityModifier != pgtype.Finite {
		return time.Time{}, fmt.Errorf("the transaction has no timestamp")
	}
	at := new(big.Int).Set(n.Int)
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n.Exp, -n.Exp))), nil)
	if n.Exp < 0 {
		at.Quo(at, scale)
	} else {
		at.Mul(at, scale)
	}
	return time.Unix(0, at.Int64()).UTC(), nil
}
