package kind

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Finder reads one resource of a project.
type Finder[T ipam.Sized] func(ctx context.Context, in storage.ProjectKey, name string) (T, error)

// Kind describes resources of one kind.
type Kind[T ipam.Sized] struct {
	*usecase.Core

	Name          string // name in the trail
	Op            string // prefix of its transactions' names
	Reads, Writes tenancy.Action

	Head  func(*T) *ipam.Metadata
	Valid func(name string) bool // reports whether a name is valid; nil: names are DNS labels
	Find  func(storage.Reader) Finder[T]

	// Write adds a resource's change to ch. was is nil for a create, now is nil for a delete.
	Write func(ch *storage.Changes, was, now *T)
	// Record returns a resource's record for the trail.
	Record func(T) *trail.Record
	// RecordedAs is the name in the trail, if the trail uses the resource's parent name. "" means the resource's own name.
	RecordedAs string
	// Trail returns the project that records a change in its trail; nil means the resource's own project.
	Trail func(ctx context.Context, tx storage.Tx, was, now *T) (ipam.ID, error)

	// May refuses a caller any change to a resource; nil allows every caller that may write.
	May func(T) error
	// Check validates the caller's fields other than the metadata. SameSpec compares the fields that increment the generation. SameElse compares the
	// other fields; nil means that the kind has none.
	Check              func(in storage.ProjectKey, next T) error
	SameSpec, SameElse func(a, b T) bool
	// Complete reads the fields that are not in a changed resource's row; nil means none.
	Complete func(ctx context.Context, read storage.Reader, in storage.ProjectKey, t T) (T, error)
}

// Step is the additional work of a transaction that changes one resource. It refuses the change or returns further changes. was and now are as in
// Kind.Write; Step may complete now. A nil Step does nothing.
type Step[T ipam.Sized] func(ctx context.Context, tx storage.Tx, was, now *T) (storage.Changes, error)

// Get reads one resource of a project.
func (k Kind[T]) Get(ctx context.Context, project, name string) (T, error) {
	_, in, err := k.Enter(ctx, k.Reads, project)
	if err != nil {
		var none T
		return none, err
	}
	return k.Find(k.Store)(ctx, in, name)
}

// place is a position in a list: the last name.
type place string

// Rows reads up to limit resources in a project with names after the given one, ordered by name.
type Rows[T ipam.Sized] func(read storage.Reader, ctx context.Context, in storage.ProjectKey, after string, limit int) ([]T, error)

// List returns a page with a project's resources.
func (k Kind[T]) List(ctx context.Context, project, kind string, rows Rows[T], limit int, cursor string, r usecase.Reading,
) (paging.Page[T], error) {
	_, in, err := k.Enter(ctx, k.Reads, project)
	if err != nil {
		return paging.Page[T]{}, err
	}
	return k.Page(ctx, in, paging.ListOf(kind, in.ID), rows, usecase.Everything[T], limit, cursor, r)
}

// Page returns a page of the matching resources in a list.
func (k Kind[T]) Page(ctx context.Context, in storage.ProjectKey, of paging.List, rows Rows[T], match func(*T) bool, limit int, cursor string,
	r usecase.Reading,
) (paging.Page[T], error) {
	valid := k.Valid
	if valid == nil {
		valid = ipam.ValidName
	}
	read := k.View(r)
	return paging.Scan(ctx, k.Searching, of, cursor, limit, func(after place, n int) ([]T, error) {
		if after != "" && !valid(string(after)) {
			return nil, paging.ErrBadCursor()
		}
		return rows(read, ctx, in, string(after), n)
	}, match, func(t T) place { return place(k.Head(&t).Name) })
}
