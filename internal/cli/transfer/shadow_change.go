package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// change is the difference between the source's item and the object in Carve.
type change struct {
	i, is  *item
	ranges []*item // ranges that this change turns into reservations
	patch  map[string]any
	what   []string
}

// change compares an item with the object in Carve. It compares only the fields that the mapping sets, because other labels and annotations belong to
// users.
func (m *mirror) change(i, e *item) change {
	c := change{i: i, is: e, patch: map[string]any{}}
	labels, annotations := map[string]string{}, map[string]string{}
	has, hasLabels := e.annotationMap(), e.labelMap()
	if i.spec == nil { // the source may have no value for these keys
		for _, key := range m.mapping.LabelKeys() {
			labels[key] = ""
		}
		for key := range m.mapping.Annotations {
			annotations[key] = ""
		}
	}
	maps.Copy(labels, i.labelMap())
	maps.Copy(annotations, i.annotationMap())
	maps.DeleteFunc(annotations, func(key, value string) bool { return has[key] != "" && m.mapping.Unsteady(key, first(value, has[key])) })
	c.pairs("label", labels, hasLabels)
	c.pairs("annotation", annotations, has)
	if i.isPool() && i.text() != e.description {
		c.add(fmt.Sprintf("description %q → %q", e.description, i.text()), orNull(i.text()), "spec", "description")
	}
	if i.isPool() && i.spec == nil {
		c.reservations(hasLabels[shadowLabel] == "")
		c.lengths()
	}
	return c
}

// add adds a difference to the change's description, and a field to its patch.
func (c *change) add(what string, value any, path ...string) {
	c.what = append(c.what, what)
	c.set(value, path...)
}

func (c *change) set(value any, path ...string) {
	last := len(path) - 1
	verbs.Below(c.patch, path[:last]...)[path[last]] = value
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// pairs compares labels or annotations. The value "" means that the key is absent.
func (c *change) pairs(what string, want, have map[string]string) {
	for key, value := range show.Sorted(want) {
		if have[key] != value {
			c.add(fmt.Sprintf("%s %s %q → %q", what, key, have[key], value), orNull(value), "metadata", what+"s", key)
		}
	}
}

func (i *item) spans() []span {
	out := make([]span, len(i.holds))
	for n, r := range i.holds {
		out[n] = span{pool: i}
		out[n].first, out[n].last = converge.Bounds(i.block, r)
	}
	return out
}

// mark returns a short hash of a span. With that length, marks for 64 reservations fit into one annotation.
func (s span) mark() string {
	sum := sha256.Sum256([]byte(s.first.String() + "-" + s.last.String()))
	return hex.EncodeToString(sum[:5])
}

// withMarks returns a pool's annotations, with a mark for each reservation.
func (i *item) withMarks() map[string]string {
	all := map[string]string{}
	maps.Copy(all, i.annotationMap())
	var marks []string
	for _, s := range i.spans() {
		marks = append(marks, s.mark())
	}
	all[shadowRanges] = strings.Join(marks, " ")
	return all
}

// reservations compares the reservations that come from ranges. It keeps users' reservations. If all is true, existing reservations with equal
// addresses also become the mirror's.
func (c *change) reservations(all bool) {
	made := strings.Fields(c.is.annotations[shadowRanges])
	wanted := c.i.spans()
	var list []client.Reservation
	var marks []string
	before := len(c.what)
	for n, s := range c.is.spans() {
		ours := slices.Contains(made, s.mark())
		at := slices.IndexFunc(wanted, func(w span) bool { return w.first == s.first && w.last == s.last })
		r := c.is.holds[n]
		switch {
		case at < 0 && ours:
			c.what = append(c.what, fmt.Sprintf("reservation %s-%s is removed", s.first, s.last))
			continue
		case at >= 0 && ours && r.Reason != c.i.holds[at].Reason:
			c.what = append(c.what, fmt.Sprintf("reservation %s-%s %q → %q", s.first, s.last, r.Reason, c.i.holds[at].Reason))
			r = c.i.holds[at]
		}
		if at >= 0 && (ours || all) {
			marks = append(marks, s.mark())
		}
		list = append(list, r)
	}
	for n, w := range wanted {
		if !w.in(c.is) {
			c.what = append(c.what, fmt.Sprintf("reservation %s-%s is added", w.first, w.last))
			list, marks = append(list, c.i.holds[n]), append(marks, w.mark())
		}
	}
	slices.Sort(marks)
	slices.Sort(made)
	switch {
	case len(c.what) > before:
	case slices.Equal(made, marks):
		return
	default:
		c.what = append(c.what, "the mirror takes over its reservations")
	}
	c.set(append([]client.Reservation{}, list...), "spec", "reservations")
	c.set(orNull(strings.Join(marks, " ")), "metadata", "annotations", shadowRanges)
}

// lengths compares the limits for prefix lengths. If the source has no limits, it does nothing.
func (c *change) lengths() {
	var want client.IPPoolSpec
	c.i.lengths(&want)
	have, err := c.is.rest()
	if err != nil || want.Allocation == nil {
		return
	}
	var is client.PoolAllocation
	if have["allocation"] != nil && json.Unmarshal(have["allocation"], &is) != nil {
		return
	}
	for _, limit := range []struct {
		name      string
		want, has *int
	}{
		{"minPrefixLength", want.Allocation.MinPrefixLength, is.MinPrefixLength},
		{"maxPrefixLength", want.Allocation.MaxPrefixLength, is.MaxPrefixLength},
		{"defaultPrefixLength", want.Allocation.DefaultPrefixLength, is.DefaultPrefixLength},
	} {
		if limit.want != nil && (limit.has == nil || *limit.has != *limit.want) {
			has := "<nil>"
			if limit.has != nil {
				has = strconv.Itoa(*limit.has)
			}
			c.add(fmt.Sprintf("%s %s → %d", limit.name, has, *limit.want), *limit.want, "spec", "allocation", limit.name)
		}
	}
}

// change sends a change. The request requires the revision that was compared.
func (r *run) change(ctx context.Context, c change) error {
	if err := r.settleOne(c.i, r.revise(ctx, http.MethodPatch, c.is, c.patch), results{outcomeChanged, outcomeLeft, outcomeRefused}); err != nil {
		return err
	}
	for _, i := range c.ranges {
		if c.i.outcome == outcomeChanged {
			i.end(outcomeChanged, i.why)
		}
	}
	return nil
}

// revise changes or deletes an object, only at the revision that was compared.
func (r *run) revise(ctx context.Context, method string, e *item, body any) error {
	_, err := r.Patiently(ctx, func() (session.Answer, error) {
		return r.Ask(ctx, session.Request{Method: method, Path: e.path(), Body: body, Match: `"` + e.changed() + `"`})
	})
	return err
}

func (i *item) path() []string {
	return []string{"projects", i.project(), show.Plural(i.kind), i.name}
}

// release deletes objects that the mirror made and that the source no longer has. It deletes each object only at the revision that was compared.
// Claims come first, and then pools, with inner pools before outer pools. If the server refuses a deletion, that object stays.
func (m *mirror) release(ctx context.Context, items []*item) error {
	r := newRun(m.Session, m.parallel, len(items))
	defer r.progress.End()
	claims := slices.IndexFunc(items, (*item).isPool)
	if claims < 0 {
		claims = len(items)
	}
	if err := r.Each(claims, func(n int) error { return r.remove(ctx, items[n]) }); err != nil {
		return err
	}
	for _, e := range items[claims:] {
		if err := r.remove(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes one object. It can safely retry the request, because a revision is never used again. If the first request deleted the object and the
// response was lost, the retry gets not_found.
func (r *run) remove(ctx context.Context, e *item) error {
	err := r.revise(ctx, http.MethodDelete, e, nil)
	if exit.CodeOf(err) == exit.NotFound {
		err = nil
	}
	return r.settleOne(e, err, results{outcomeReleased, outcomeHeldBack, outcomeHeldBack})
}
