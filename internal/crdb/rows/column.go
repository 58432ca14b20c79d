package rows

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/carve-ipam/carve/internal/ipam"
)

// column maps a column to a field of R, the Go type for a row.
type column[R any] struct {
	name  string
	to    func(*R) any // scan target; nil: the column is not read
	value func(*R) any
	array func([]R) any
	same  func([]R) bool // false if the values of two rows differ, or may differ
}

// of returns a column. to returns the scan target, and written returns the value to write.
func of[R any, W comparable](name string, to func(*R) any, written func(*R) W) column[R] {
	return column[R]{
		name: name, to: to,
		value: func(r *R) any { return written(r) },
		array: func(rows []R) any {
			list := make([]W, len(rows))
			for i := range rows {
				list[i] = written(&rows[i])
			}
			return list
		},
		same: func(rows []R) bool {
			first := written(&rows[0])
			for i := range rows[1:] {
				if written(&rows[i+1]) != first {
					return false
				}
			}
			return true
		},
	}
}

// maybe does the same as of, for a column that may be NULL. The value nil is NULL.
func maybe[R any, W comparable](name string, to func(*R) any, written func(*R) *W) column[R] {
	c := of(name, to, written)
	c.same = func(rows []R) bool {
		first := written(&rows[0])
		for i := range rows[1:] {
			if w := written(&rows[i+1]); w != first && (w == nil || first == nil || *w != *first) {
				return false
			}
		}
		return true
	}
	return c
}

func plain[R any, T comparable](name string, at func(*R) *T) column[R] {
	return of(name, func(r *R) any { return at(r) }, func(r *R) T { return *at(r) })
}

func pointer[R any, T comparable](name string, at func(*R) **T) column[R] {
	return maybe(name, func(r *R) any { return at(r) }, func(r *R) *T { return *at(r) })
}

func text[R any, T ~string](name string, at func(*R) *T) column[R] {
	return of(name, func(r *R) any { return at(r) }, func(r *R) string { return string(*at(r)) })
}

func raw[R any](name string, at func(*R) *[]byte) column[R] {
	return column[R]{
		name: name, to: func(r *R) any { return at(r) }, value: func(r *R) any { return *at(r) },
		array: func(rows []R) any {
			list := make([][]byte, len(rows))
			for i := range rows {
				list[i] = *at(&rows[i])
			}
			return list
		},
		same: func([]R) bool { return false },
	}
}

func id[R any](name string, at func(*R) *ipam.ID) column[R] {
	c := of(name, func(r *R) any { return (*[16]byte)(at(r)) }, func(r *R) uuid { return uuid(*at(r)) })
	c.value = func(r *R) any { return (*uuid)(at(r)) }
	c.array = func(rows []R) any {
		list := make([][16]byte, len(rows))
		for i := range rows {
			list[i] = *at(&rows[i])
		}
		return list
	}
	return c
}

// maybeID returns an id column in which the zero id is NULL.
func maybeID[R any](name string, at func(*R) *ipam.ID) column[R] {
	c := maybe(name, func(r *R) any { return (*idOrNull)(at(r)) }, func(r *R) *uuid {
		if at(r).IsZero() {
			return nil
		}
		return (*uuid)(at(r))
	})
	c.array = func(rows []R) any {
		list := make([]*[16]byte, len(rows))
		for i := range rows {
			if id := at(&rows[i]); !id.IsZero() {
				list[i] = (*[16]byte)(id)
			}
		}
		return list
	}
	return c
}

// maybeText returns a text column in which the empty text is NULL.
func maybeText[R any](name string, at func(*R) *string) column[R] {
	c := maybe(name, func(r *R) any { return (*textOrNull)(at(r)) }, func(r *R) *textOrNull {
		if *at(r) == "" {
			return nil
		}
		return (*textOrNull)(at(r))
	})
	c.array = func(rows []R) any {
		list := make([]*string, len(rows))
		for i := range rows {
			if text := at(&rows[i]); *text != "" {
				list[i] = text
			}
		}
		return list
	}
	return c
}

func moment[R any](name string, at func(*R) *time.Time) column[R] {
	return of(name, func(r *R) any { return (*utc)(at(r)) }, func(r *R) time.Time { return *at(r) })
}

// maybeMoment returns a time column in which the zero time is NULL.
func maybeMoment[R any](name string, at func(*R) *time.Time) column[R] {
	return maybe(name, func(r *R) any { return (*utc)(at(r)) }, func(r *R) *time.Time {
		if at(r).IsZero() {
			return nil
		}
		return at(r)
	})
}

// document returns a JSON column. at returns the value that is read, and doc returns the encoded text to write.
func document[R, T any](name string, at func(*R) *T, doc func(*R) *string) column[R] {
	return of(name, func(r *R) any { return at(r) }, func(r *R) string { return *doc(r) })
}

// maybeDocument returns a JSON column that may be NULL.
func maybeDocument[R, T any](name string, at func(*R) *T, doc func(*R) **string) column[R] {
	return maybe(name, func(r *R) any { return at(r) }, func(r *R) *string { return *doc(r) })
}

// written returns the same column, but for writing only.
func written[R any](c column[R]) column[R] {
	c.to = nil
	return c
}

// uuid is an id that pgx encodes through a pointer. pgx would copy a [16]byte to the heap twice.
type uuid ipam.ID

// UUIDValue implements pgtype.UUIDValuer.
func (u *uuid) UUIDValue() (pgtype.UUID, error) { return pgtype.UUID{Bytes: *u, Valid: true}, nil }

// textOrNull reads NULL as the empty text.
type textOrNull string

// ScanText implements pgtype.TextScanner.
func (t *textOrNull) ScanText(v pgtype.Text) error {
	*t = textOrNull(v.String)
	return nil
}

// TextValue implements pgtype.TextValuer.
func (t *textOrNull) TextValue() (pgtype.Text, error) {
	return pgtype.Text{String: string(*t), Valid: true}, nil
}

// idOrNull reads NULL as the zero id.
type idOrNull ipam.ID

// ScanUUID implements pgtype.UUIDScanner.
func (i *idOrNull) ScanUUID(v pgtype.UUID) error {
	*i = v.Bytes
	return nil
}

// utc reads times as UTC, and NULL as the zero time.
type utc time.Time

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (t *utc) ScanTimestamptz(v pgtype.Timestamptz) error {
	*t = utc(v.Time.UTC())
	return nil
}

// held is a block in two columns: its first address and its prefix length.
type held struct {
	base []byte
	plen int16
}

func heldColumns[R any](at func(*R) *held) table[R] {
	return table[R]{
		raw("base", func(r *R) *[]byte { return &at(r).base }),
		plain("plen", func(r *R) *int16 { return &at(r).plen }),
	}
}

// metadata contains the encoded labels and annotations of an object.
type metadata struct{ labels, annotations string }

func (d *documents) metadata(m ipam.Metadata) metadata {
	return metadata{labels: d.labels(m.Labels), annotations: d.labels(m.Annotations)}
}

func labelColumns[R any](of func(*R) *ipam.Metadata, doc func(*R) *metadata) table[R] {
	return table[R]{
		document("labels", func(r *R) *map[string]string { return &of(r).Labels }, func(r *R) *string { return &doc(r).labels }),
		document("annotations", func(r *R) *map[string]string { return &of(r).Annotations }, func(r *R) *string { return &doc(r).annotations }),
	}
}

// recordColumns returns the columns that every kind of object with metadata has.
func recordColumns[R any](of func(*R) *ipam.Metadata) table[R] {
	return table[R]{
		id("id", func(r *R) *ipam.ID { return &of(r).UID }),
		plain("generation", func(r *R) *int64 { return &of(r).Generation }),
		id("revision", func(r *R) *ipam.ID { return &of(r).Revision }),
		moment("created_at", func(r *R) *time.Time { return &of(r).CreatedAt }),
		moment("updated_at", func(r *R) *time.Time { return &of(r).UpdatedAt }),
		plain("created_by", func(r *R) *string { return &of(r).CreatedBy }),
	}
}

// normalize makes an object that was read equal to the object that was written: empty maps become nil.
func normalize(m *ipam.Metadata) {
	if len(m.Labels) == 0 {
		m.Labels = nil
	}
	if len(m.Annotations) == 0 {
		m.Annotations = nil
	}
}

func refColumns[R any](project, name string, of func(*R) *ipam.Ref) table[R] {
	return table[R]{
		plain(project, func(r *R) *string { return &of(r).Project }),
		plain(name, func(r *R) *string { return &of(r).Name }),
	}
}
