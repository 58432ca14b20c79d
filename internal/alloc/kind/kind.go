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

// Finder reads one resource in a project.
type Finder[T ipam.Sized] func(ctx context.Context, in storage.ProjectKey, name string) (T, error)

// Kind describes resources of one kind.
type Kind[T ipam.Sized] struct {
	*usecase.Core

	Name          string // name in the audit trail
	Op            string // prefix for the names of its transactions
	Reads, Writes tenancy.Action

	Head  func(*T) *ipam.Metadata
	Valid func(name string) bool // reports whether a name is valid; nil: names are DNS labels
	Find  func(storage.Reader) Finder[T]

	// Write adds a resource's change to ch. For a create, was is nil. For a delete, now is nil.
	Write func(ch *storage.Changes, was, now *T)
	// Record returns the audit trail record for a resource.
	Record func(T) *trail.Record
	// RecordedAs is the name in the audit trail, if the trail uses the parent's name. "" means the resource's own name.
	RecordedAs string
	// Trail returns the project whose audit trail records a change. nil means the resource's own project.
	Trail func(ctx context.Context, tx storage.Tx, was, now *T) (ipam.ID, error)

	// CheckAccess returns an error if the caller must not change a resource. nil allows every caller that may write.
	CheckAccess func(T) error
	// Check validates the fields that the caller sets, except the metadata. SameSpec compares the fields whose change increments the generation.
	// SameElse compares the other fields. A nil SameElse means that the kind has no other fields.
	Check              func(in storage.ProjectKey, next T) error
	SameSpec, SameElse func(a, b T) bool
	// Complete reads the fields of a changed resource that its row does not have. nil means that the row has all fields.
	Complete func(ctx context.Context, read storage.Reader, in storage.ProjectKey, t T) (T, error)
}

// Step is additional work in a transaction that changes one resource. It returns an error to refuse the change, or it returns further changes. was
// and now are as in Kind.Write. Step may set fields of now. A nil Step does nothing.
type Step[T ipam.Sized] func(ctx context.Context, tx storage.Tx, was, now *T) (storage.Changes, error)

// Get reads one resource in a project.
func (k Kind[T]) Get(ctx context.Context, project, name string) (T, error) {
	_, in, err := k.Enter(ctx, k.Reads, project)
	if err != nil {
		var none T
		return none, err
	}
	return k.Find(k.Store)(ctx, in, name)
}

// place is a position in a list: the last name on a page.
type place string

// Rows reads up to limit resources in a project, in name order. It returns only names that sort after the given name.
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

// Page returns a page with a list's matching resources.
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
