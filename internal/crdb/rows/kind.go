// Package rows maps objects to database rows. It knows the column names, and converts the fields that the database stores in another form. The
// statements define the column order.
package rows

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Kind reads and writes the objects of one kind.
type Kind[V any] struct {
	// Scan reads a row. The row must have exactly the kind's columns, in any order.
	Scan pgx.RowToFunc[V]
	// Values returns a statement's arguments for one row.
	Values func(statement string, v V) ([]any, error)
	// Arrays returns the statement's best form for these rows: the name and the arguments. For each column, the argument is an array, or one value
	// for all rows.
	Arrays func(statement string, list []V) (string, []any, error)
	// Keys returns the arguments for a statement that lists its rows' keys. size is the number of keys that the statement lists. If list is shorter,
	// its last key is repeated.
	Keys func(statement string, list []V, size int) ([]any, error)
}

// kindOf returns a Kind. R is the Go type for a row. row converts an object to an R, and value converts it back.
func kindOf[V, R any](columns table[R], row func(V, *documents) R, value func(*R) (V, error)) Kind[V] {
	scan := columns.readable().scanner()
	return Kind[V]{
		Scan: func(from pgx.CollectableRow) (v V, err error) {
			var r R
			if err := scan(from, &r); err != nil {
				return v, err
			}
			return value(&r)
		},
		Values: func(statement string, v V) ([]any, error) {
			var docs documents
			r := row(v, &docs)
			return columns.append(nil, statement, &r), docs.err
		},
		Arrays: func(statement string, list []V) (string, []any, error) {
			var docs documents
			rows := make([]R, len(list))
			for i, v := range list {
				rows[i] = row(v, &docs)
			}
			name, arrays := query.BestForm(statement, len(list), func(c string) bool { return columns.column(c).same(rows) })
			args := make([]any, len(arrays))
			for i, c := range query.Columns(statement) {
				if column := columns.column(c.Name); arrays[i] {
					args[i] = column.array(rows)
				} else {
					args[i] = column.value(&rows[0])
				}
			}
			return name, args, docs.err
		},
		Keys: func(statement string, list []V, size int) (args []any, err error) {
			var docs documents
			for n := range size {
				r := row(list[min(n, len(list)-1)], &docs)
				args = columns.append(args, statement, &r)
			}
			return args, docs.err
		},
	}
}

// table lists a kind's columns.
type table[R any] []column[R]

// order is the column order in a statement.
type order struct {
	names []string
	at    []int
}

func (t table[R]) ordered(fields []pgconn.FieldDescription) (*order, error) {
	if len(fields) != len(t) {
		return nil, fmt.Errorf("%d columns instead of %d", len(fields), len(t))
	}
	o := &order{make([]string, len(fields)), make([]int, len(fields))}
	for i, f := range fields {
		at := t.index(f.Name)
		if at < 0 || slices.Contains(o.names, f.Name) {
			return nil, fmt.Errorf("column %q is not expected", f.Name)
		}
		o.names[i], o.at[i] = f.Name, at
	}
	return o, nil
}

// matches reports whether a row's columns have this order.
func (o *order) matches(fields []pgconn.FieldDescription) bool {
	return o != nil && slices.EqualFunc(fields, o.names, func(f pgconn.FieldDescription, name string) bool { return f.Name == name })
}

// scanner returns a function that reads rows. It caches the last column order, because nearly all statements for a kind have the same order.
func (t table[R]) scanner() func(pgx.CollectableRow, *R) error {
	var last atomic.Pointer[order]
	return func(from pgx.CollectableRow, r *R) (err error) {
		fields, o := from.FieldDescriptions(), last.Load()
		if !o.matches(fields) {
			if o, err = t.ordered(fields); err != nil {
				return err
			}
			last.Store(o)
		}
		targets := make([]any, len(fields))
		for i, at := range o.at {
			targets[i] = t[at].to(r)
		}
		return from.Scan(targets...)
	}
}

// readable returns the columns that are read.
func (t table[R]) readable() table[R] {
	return slices.DeleteFunc(slices.Clone(t), func(c column[R]) bool { return c.to == nil })
}

func (t table[R]) index(name string) int {
	return slices.IndexFunc(t, func(c column[R]) bool { return c.name == name })
}

// append appends a statement's arguments for the row r.
func (t table[R]) append(args []any, statement string, r *R) []any {
	for _, c := range query.Columns(statement) {
		args = append(args, t.column(c.Name).value(r))
	}
	return args
}

func (t table[R]) column(name string) *column[R] { return &t[t.index(name)] }

// within converts columns for P into columns for R. An R contains a P, and partOf returns this P.
func within[R, P any](part table[P], partOf func(*R) *P) (t table[R]) {
	for _, c := range part {
		t = append(t, column[R]{
			name: c.name, to: func(r *R) any { return c.to(partOf(r)) }, value: func(r *R) any { return c.value(partOf(r)) },
		})
	}
	return t
}

// asItIs and asRead convert nothing. They are for a kind that also uses the object type for its rows.
func asItIs[V any](v V, _ *documents) V { return v }

func asRead[V any](v *V) (V, error) { return *v, nil }

// documents encodes JSON documents, and collects the errors.
type documents struct {
	err    error
	before *ipam.Claim // textOf's last claim; text is its text
	text   string
}

func (d *documents) encode(v any) string {
	doc, err := Document(v)
	d.err = errors.Join(d.err, err)
	return doc
}

// labels encodes labels. It is fast without labels, because most objects have none.
func (d *documents) labels(m map[string]string) string {
	if len(m) == 0 {
		return "{}"
	}
	return d.encode(m)
}

// list encodes a list. An empty list and nil become [].
func list[T any](d *documents, all []T) string {
	if len(all) == 0 {
		return "[]"
	}
	return d.encode(all)
}
