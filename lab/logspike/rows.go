package logspike

import (
	"encoding/json"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"
)

// rows contains the rows of one INSERT, column by column.
type rows struct {
	pool    pgtype.FlatArray[pgtype.UUID]
	kind    []int16
	block   [][]byte
	seq     []int64
	project pgtype.FlatArray[pgtype.UUID]
	name    pgtype.FlatArray[pgtype.Text]
	key     pgtype.FlatArray[pgtype.Text]
	digest  [][]byte
	body    pgtype.FlatArray[pgtype.Text]

	group ID // of all log rows in the INSERT
}

// row is one row. Empty texts become NULL.
type row struct {
	pool    ID
	kind    int16
	block   []byte
	seq     int64
	project ID
	name    string
	key     string
	digest  []byte
	body    string
}

func (r *rows) add(n row) {
	r.pool = append(r.pool, pgtype.UUID{Bytes: n.pool, Valid: true})
	r.kind = append(r.kind, n.kind)
	r.block = append(r.block, n.block)
	r.seq = append(r.seq, n.seq)
	r.project = append(r.project, pgtype.UUID{Bytes: n.project, Valid: n.project != ID{}})
	r.name = append(r.name, text(n.name))
	r.key = append(r.key, text(n.key))
	r.digest = append(r.digest, n.digest)
	r.body = append(r.body, text(n.body))
}

func text(s string) pgtype.Text { return pgtype.Text{String: s, Valid: s != ""} }

// addLog adds the log row of a pool's group.
func (r *rows) addLog(pool ID, seq int64, body logBody) error {
	encoded, err := json.Marshal(body)
	r.add(row{pool: pool, kind: kindLog, block: []byte{}, seq: seq, body: string(encoded)})
	return err
}

func (r *rows) arguments() []any {
	return []any{
		r.pool, r.kind, r.block, r.seq, r.project, r.name, r.key, r.digest, r.body,
		pgtype.UUID{Bytes: r.group, Valid: true},
	}
}

// repeated returns a list that has the same id n times.
func repeated(id ID, n int) pgtype.FlatArray[pgtype.UUID] {
	return slices.Repeat(pgtype.FlatArray[pgtype.UUID]{{Bytes: id, Valid: true}}, n)
}
