package logspike

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
)

// clashes finds the calls whose idempotency keys or names are in use, and finishes them. The other calls are planned again. An ended hold that the
// sweeper has not yet deleted is deleted now, so that its name is free.
func (e *Engine) clashes(ctx context.Context, groups []*group) error {
	if err := e.repeated(ctx, groups); err != nil {
		return err
	}
	names := usesOf(groups, func(c *call) (names []string) {
		for _, claim := range c.Claims {
			names = append(names, claim.Name)
		}
		return names
	})
	used, err := lookUp(ctx, names, e.store.names)
	if err != nil {
		return err
	}
	for c := range unfinished(groups) {
		for _, claim := range c.Claims {
			if n, found := used[use{c.Project, claim.Name, false}]; found && !n.ended {
				c.end(&Refusal{Code: NameTaken, Name: claim.Name})
				break
			}
		}
	}
	ended := map[ID][]Hold{}
	for _, n := range used {
		if n.ended {
			ended[n.Pool] = append(ended[n.Pool], n.Hold)
		}
	}
	for _, pool := range slices.SortedFunc(maps.Keys(ended), func(a, b ID) int { return bytes.Compare(a[:], b[:]) }) {
		if err := e.store.deleteEnded(ctx, pool, ended[pool]); err != nil {
			return err
		}
	}
	return nil
}

// repeated finishes the calls whose idempotency keys are in use, with the answer to the first request.
func (e *Engine) repeated(ctx context.Context, groups []*group) error {
	keys := usesOf(groups, func(c *call) []string {
		if c.Key == "" {
			return nil
		}
		return []string{c.Key}
	})
	used, err := lookUp(ctx, keys, e.store.keys)
	if err != nil {
		return err
	}
	for c := range unfinished(groups) {
		switch k, found := used[use{c.Project, c.Key, true}]; {
		case !found:
		case bytes.Equal(k.digest, c.Digest):
			c.holds = k.holds
			c.end(nil)
		default:
			c.end(&Refusal{Code: KeyReused})
		}
	}
	return nil
}

// unfinished iterates over the calls without an outcome.
func unfinished(groups []*group) func(yield func(*call) bool) {
	return func(yield func(*call) bool) {
		for _, g := range groups {
			for _, c := range g.calls {
				if !c.ended && !yield(c) {
					return
				}
			}
		}
	}
}

// usesOf collects the texts of the unfinished calls by project.
func usesOf(groups []*group, of func(*call) []string) map[ID][]string {
	all := map[ID][]string{}
	for c := range unfinished(groups) {
		if texts := of(c); len(texts) > 0 {
			all[c.Project] = append(all[c.Project], texts...)
		}
	}
	return all
}

func lookUp[T any](ctx context.Context, texts map[ID][]string, in func(context.Context, ID, []string) (map[use]T, error)) (map[use]T, error) {
	all := map[use]T{}
	var errs []error
	for project, some := range texts {
		found, err := in(ctx, project, some)
		maps.Copy(all, found)
		errs = append(errs, err)
	}
	return all, errors.Join(errs...)
}
