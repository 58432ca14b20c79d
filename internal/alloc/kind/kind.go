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

// Kind is what is particular to resources of one kind.
type Kind[T ipam.Sized] struct {
	*usecase.Core

	Name          string // of the kind in the trail
	Op            string // how the names of its transactions begin
	Reads, Writes tenancy.Action

	Head  func(*T) *ipam.Metadata
	Valid func(name string) bool // whether one can have a name. nil: names are DNS labels
	Find  func(storage.Reader) Finder[T]

	// Write adds what is written of a resource that changes: was is nil when it is made, now is nil when it is deleted.
	Write func(ch *storage.Changes, was, now *T)
	// Record is what the trail keeps of one.
	Record func(T) *trail.Record
	// RecordedAs is the name of what it belongs to, if that is what the trail calls it. "": the trail calls it by its own.
	RecordedAs string
	// Trail is the project in whose trail a change of one is recorded. nil: the project that it is in.
	Trail func(ctx context.Context, tx storage.Tx, was, now *T) (ipam.ID, error)

	// May refuses a caller any change of one. nil: whoever came so far may change it.
	May func(T) error
	// Check validates what a caller writes, beside the metadata; SameSpec compares the part of it that counts generations, SameElse the rest of it
	// (nil: there is no rest).
	Check              func(in storage.ProjectKey, next T) error
	SameSpec, SameElse func(a, b T) bool
	// Complete reads what is not in the row of one that was changed. nil: nothing.
	Complete func(ctx context.Context, read storage.Reader, in storage.ProjectKey, t T) (T, error)
}

// Step is what a transaction does besides changing one resource: it refuses that, or answers what is written along with it. was and now are as in
// Kind.Write; it may complete now. A nil Step does nothing.
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

// place is a place in a list: the last name.
type place string

// Rows reads up to limit of the resources of a project whose names are after a name, in order of names.
type Rows[T ipam.Sized] func(read storage.Reader, ctx context.Context, in storage.ProjectKey, after string, limit int) ([]T, error)

// List answers a page of what a project has.
func (k Kind[T]) List(ctx context.Context, project, kind string, rows Rows[T], limit int, cursor string, r usecase.Reading,
) (paging.Page[T], error) {
	_, in, err := k.Enter(ctx, k.Reads, project)
	if err != nil {
		return paging.Page[T]{}, err
	}
	return k.Page(ctx, in, paging.ListOf(kind, in.ID), rows, usecase.Everything[T], limit, cursor, r)
}

// Page answers a page of a list, of what matches.
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
