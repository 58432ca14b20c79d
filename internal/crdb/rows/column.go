package rows

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/carve-ipam/carve/internal/ipam"
)

// column maps a column to a field in R, the Go type for a row.
type column[R any] struct {
	name  string
	to    func(*R) any // scan target; nil: the column is not read
	value func(*R) any
	array func([]R) any
	same  func([]R) bool // false if two rows have different values, or may have
}

// newColumn returns a column. target returns the scan target, and valueOf returns the value to write.
func newColumn[R, T, W any](name string, target func(*R) T, valueOf func(*R) W, equal func(a, b W) bool) column[R] {
	return column[R]{
		name:  name,
		to:    func(r *R) any { return target(r) },
		value: func(r *R) any { return valueOf(r) },
		array: func(rows []R) any {
			list := make([]W, len(rows))
			for i := range rows {
				list[i] = valueOf(&rows[i])
			}
			return list
		},
		same: func(rows []R) bool {
			first := valueOf(&rows[0])
			for i := range rows[1:] {
				if !equal(valueOf(&rows[i+1]), first) {
					return false
				}
			}
			return true
		},
	}
}

func required[R, T any, W comparable](name string, at func(*R) T, written func(*R) W) column[R] {
	return newColumn(name, at, written, func(a, b W) bool { return a == b })
}

// nullable returns a column that may be NULL. It writes nil as NULL.
func nullable[R, T any, W comparable](name string, at func(*R) T, written func(*R) *W) column[R] {
	return newColumn(name, at, written, func(a, b *W) bool { return a == b || a != nil && b != nil && *a == *b })
}

func plain[R any, T comparable](name string, at func(*R) *T) column[R] {
	return required(name, at, func(r *R) T { return *at(r) })
}

func pointer[R any, T comparable](name string, at func(*R) **T) column[R] {
	return nullable(name, at, func(r *R) *T { return *at(r) })
}

func text[R any, T ~string](name string, at func(*R) *T) column[R] {
	return required(name, at, func(r *R) string { return string(*at(r)) })
}

func raw[R any](name string, at func(*R) *[]byte) column[R] {
	return newColumn(name, at, func(r *R) []byte { return *at(r) }, func([]byte, []byte) bool { return false })
}

func id[R any](name string, at func(*R) *ipam.ID) column[R] {
	c := plain(name, at)
	c.value = func(r *R) any { return at(r) } // not copied to the heap
	return c
}

// nullableID returns an id column in which the zero id is NULL.
func nullableID[R any](name string, at func(*R) *ipam.ID) column[R] {
	return nullable(name, at, func(r *R) *ipam.ID {
		if at(r).IsZero() {
			return nil
		}
		return at(r)
	})
}

// nullableText returns a text column in which the empty text is NULL.
func nullableText[R any](name string, at func(*R) *string) column[R] {
	own := func(r *R) *textOrNull { return (*textOrNull)(at(r)) }
	return nullable(name, own, func(r *R) *textOrNull {
		if *at(r) == "" {
			return nil
		}
		return own(r)
	})
}

func moment[R any](name string, at func(*R) *time.Time) column[R] {
	return required(name, func(r *R) *utc { return (*utc)(at(r)) }, func(r *R) time.Time { return *at(r) })
}

// nullableMoment returns a time column in which the zero time is NULL.
func nullableMoment[R any](name string, at func(*R) *time.Time) column[R] {
	return nullable(name, func(r *R) *utc { return (*utc)(at(r)) }, func(r *R) *time.Time {
		if at(r).IsZero() {
			return nil
		}
		return at(r)
	})
}

// document returns a JSON column. target returns the scan target, and doc returns the encoded text to write.
func document[R, T any](name string, target func(*R) *T, doc func(*R) *string) column[R] {
	return required(name, target, func(r *R) string { return *doc(r) })
}

// writeOnly returns the same column, but for writing only.
func writeOnly[R any](c column[R]) column[R] {
	c.to = nil
	return c
}

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

// metadata contains an object's encoded labels and annotations.
type metadata struct{ labels, annotations string }

// labelled is the Go type for a row if the objects have labels.
type labelled[V any] struct {
	object V
	metadata
	spec, progress string // encoded
	family         int16
}

// labelledKind returns a Kind. metadataOf returns an object's metadata, columns contains the columns without metadata, and encode sets the row's
// fields that the database stores in another form. encode is nil if there are no such fields.
func labelledKind[V any](metadataOf func(*V) *ipam.Metadata, columns table[labelled[V]], encode func(*labelled[V], *documents)) Kind[V] {
	meta := func(r *labelled[V]) *ipam.Metadata { return metadataOf(&r.object) }
	return kindOf(slices.Concat(recordColumns(meta), labelColumns(meta, func(r *labelled[V]) *metadata { return &r.metadata }), columns), func(v V, d *documents) labelled[V] {
		r := labelled[V]{object: v, metadata: d.metadata(*metadataOf(&v))}
		if encode != nil {
			encode(&r, d)
		}
		return r
	}, func(r *labelled[V]) (V, error) {
		normalize(metadataOf(&r.object))
		return r.object, nil
	})
}

func (d *documents) metadata(m ipam.Metadata) metadata {
	return metadata{labels: d.labels(m.Labels), annotations: d.labels(m.Annotations)}
}

func labelColumns[R any](of func(*R) *ipam.Metadata, doc func(*R) *metadata) table[R] {
	return table[R]{
		document("labels", func(r *R) *map[string]string { return &of(r).Labels }, func(r *R) *string { return &doc(r).labels }),
		document("annotations", func(r *R) *map[string]string { return &of(r).Annotations }, func(r *R) *string { return &doc(r).annotations }),
	}
}

// recordColumns returns the columns for an object's metadata without its labels and annotations.
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
