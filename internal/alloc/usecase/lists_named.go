package usecase

import (
	"context"
	"fmt"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// filterNames returns the names in a filter, and each name's query parameter.
func filterNames(f paging.Filter, project string) (params []string, names []storage.Named) {
	for _, n := range []struct {
		param, what string
		ref         ipam.Ref
	}{
		{"query:pool", storage.NamedPool, f.Pool}, {"query:parent", storage.NamedPool, f.Parent}, {"query:space", storage.NamedSpace, f.Space},
		{"query:class", storage.NamedClass, ipam.Ref{Project: project, Name: f.Class}},
	} {
		if n.ref.Name != "" {
			params, names = append(params, n.param), append(names, storage.Named{What: n.what, Ref: n.ref})
		}
	}
	return params, names
}

// RefuseUnknown refuses a filter that names an object which the project neither owns nor may use. Otherwise a typing error would look like an empty
// list. A missing object and an invisible object have the same refusal.
func RefuseUnknown(ctx context.Context, read storage.Reader, key storage.ProjectKey, f paging.Filter) error {
	params, names := filterNames(f, key.Name)
	if len(names) == 0 {
		return nil
	}
	there, err := read.NamesThere(ctx, key, names)
	if err != nil {
		return err
	}
	var refusal *ipam.Error
	for i, n := range names {
		if slices.Contains(there, n) {
			continue
		}
		detail := fmt.Sprintf("names the %s %q, which does not exist or is not available to project %q.", n.What, n.Shown(key.Name), key.Name)
		if refusal == nil {
			refusal = ipam.Invalid(params[i], "%s", detail)
		} else {
			refusal.Fields = append(refusal.Fields, ipam.Field{Pointer: params[i], Detail: detail})
		}
	}
	if refusal == nil {
		return nil
	}
	return refusal
}

// Unknown returns a function that calls RefuseUnknown. OrUnknown calls it only if a list is empty.
func Unknown(ctx context.Context, read storage.Reader, key storage.ProjectKey, f paging.Filter) func() error {
	return func() error { return RefuseUnknown(ctx, read, key, f) }
}

// OrUnknown returns a page of a list, and refuses unknown names in the filter. If the list has an item, the names exist, because the item contains
// them. This is true even if the project may no longer use the named pool or class. So OrUnknown checks the names only if no page so far had an item.
func OrUnknown[T, K any](of paging.List, cursor string, unknown func() error, fetch func(cursor string) (paging.Page[T], error)) (paging.Page[T], error) {
	// A cursor for emptyList means that no item came before this position, and that a name in the filter does not exist.
	emptyList := paging.List{Kind: of.Kind + "-barren", Scope: of.Scope}
	var after K
	begins := cursor == ""
	if !begins && paging.OpenCursor(cursor, emptyList, &after) == nil {
		begins, cursor = true, paging.SealCursor(of, after)
	}
	page, err := fetch(cursor)
	if err != nil || !begins || len(page.Items) > 0 {
		return page, err
	}
	err = unknown()
	if err == nil || page.Next == "" || !ipam.IsCode(err, ipam.CodeInvalidArgument) {
		return page, err
	}
	var next K
	if err := paging.OpenCursor(page.Next, of, &next); err != nil {
		return paging.Page[T]{}, err
	}
	page.Next = paging.SealCursor(emptyList, next)
	return page, nil
}

// FilterPool reads the pool in the filter if it belongs to the project. If the pool does not exist, FilterPool refuses the filter.
func FilterPool(ctx context.Context, read storage.Reader, key storage.ProjectKey, f paging.Filter) (*ipam.Pool, error) {
	if f.Pool.Project != key.Name {
		return nil, nil //nolint:nilnil // nothing to resolve is no failure
	}
	pool, found, err := storage.IgnoreNotFound(read.PoolGet(ctx, key, f.Pool.Name))
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, RefuseUnknown(ctx, read, key, f)
	}
	return &pool, nil
}
