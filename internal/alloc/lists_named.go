package alloc

import (
	"context"
	"fmt"
	"slices"

	"github.com/carve-ipam/carve/internal/ipam"
)

// What the filter of a list can name.
const (
	NamedPool  = "pool"
	NamedSpace = "space"
	NamedClass = "class"
)

// Named is something that a filter names. A class is named as one of the project whose list it is, whosever it is.
type Named struct {
	What string
	Ref  ipam.Ref
}

// named is what the filter names, by the parameter that names it.
func (f Filter) named(project string) (params []string, names []Named) {
	for _, n := range []struct {
		param, what string
		ref         ipam.Ref
	}{
		{"query:pool", NamedPool, f.Pool}, {"query:parent", NamedPool, f.Parent}, {"query:space", NamedSpace, f.Space},
		{"query:class", NamedClass, ipam.Ref{Project: project, Name: f.Class}},
	} {
		if n.ref.Name != "" {
			params, names = append(params, n.param), append(names, Named{What: n.what, Ref: n.ref})
		}
	}
	return params, names
}

// refuseUnknown refuses a filter that names what means nothing to the project: a typing error must not look like a list without anything in it. What
// is not there and what the project may not see are asked for, and answered, alike.
func (s *Service) refuseUnknown(ctx context.Context, key ProjectKey, f Filter) error {
	params, names := f.named(key.Name)
	if len(names) == 0 {
		return nil
	}
	there, err := s.store.NamesThere(ctx, key, names)
	if err != nil {
		return err
	}
	var refusal *ipam.Error
	for i, n := range names {
		if slices.Contains(there, n) {
			continue
		}
		detail := fmt.Sprintf("names the %s %q, and there is none of this name that project %q has or may use.", n.What, n.shown(key.Name), key.Name)
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

func (s *Service) unknown(ctx context.Context, key ProjectKey, f Filter) func() error {
	return func() error { return s.refuseUnknown(ctx, key, f) }
}

// shown is the name as the filter has it.
func (n Named) shown(project string) string {
	if n.Ref.Project == project {
		return n.Ref.Name
	}
	return n.Ref.Project + "/" + n.Ref.Name
}

// orUnknown answers a page of a list whose filter may name something. A list with something in it answers for the names: a claim says which pool and
// class it is of, also when the project may use them no more. Only where nothing was found, on the first page and those after it, are they looked at.
func orUnknown[T, K any](of list, cursor string, unknown func() error, fetch func(cursor string) (Page[T], error)) (Page[T], error) {
	barren := list{kind: of.kind + "-barren", of: of.of} // a place in the list before which nothing was found, by names that mean nothing
	var after K
	begins := cursor == ""
	if !begins && openCursor(cursor, barren, &after) == nil {
		begins, cursor = true, sealCursor(of, after)
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
	if err := openCursor(page.Next, of, &next); err != nil {
		return Page[T]{}, err
	}
	page.Next = sealCursor(barren, next)
	return page, nil
}
