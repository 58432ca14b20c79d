package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/snapshot"
)

// change is the difference between an item of the source and an object in Carve.
type change struct {
	i, is       *item
	ranges      []*item // ranges that this change turns into reservations
	labels      map[string]any
	annotations map[string]any
	spec        map[string]any
	what        []string
}

// change compares an item with the object in Carve. It compares only the fields that the mapping sets, because other labels and annotations belong to
// users.
func (m *mirror) change(i, e *item) change {
	c := change{i: i, is: e, labels: map[string]any{}, annotations: map[string]any{}, spec: map[string]any{}}
	labels, annotations := map[string]string{}, map[string]string{}
	maps.Copy(labels, i.labelMap())
	maps.Copy(annotations, i.annotationMap())
	if i.spec == nil {
		for _, key := range m.mapping.LabelKeys() {
			if _, has := labels[key]; !has {
				labels[key] = "" // the source has no value for this label
			}
		}
		for key := range m.mapping.Annotations {
			if _, has := annotations[key]; !has {
				annotations[key] = ""
			}
		}
	}
	has, hasLabels := e.annotationMap(), e.labelMap()
	c.pairs("label", labels, hasLabels, c.labels)
	for key, value := range annotations {
		if has[key] != "" && m.mapping.Unsteady(key, first(value, has[key])) {
			delete(annotations, key)
		}
	}
	c.pairs("annotation", annotations, has, c.annotations)
	if i.isPool() && i.text() != e.description {
		c.what = append(c.what, fmt.Sprintf("description %q → %q", e.description, i.text()))
		c.spec["description"] = orNull(i.text())
	}
	if i.isPool() && i.spec == nil {
		c.reservations(hasLabels[shadowLabel] == "")
		c.lengths()
	}
	return c
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// pairs compares labels or annotations. The value "" means that the key is absent.
func (c *change) pairs(what string, want, have map[string]string, into map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if value := want[key]; have[key] != value {
			c.what = append(c.what, fmt.Sprintf("%s %s %q → %q", what, key, have[key], value))
			into[key] = orNull(value)
		}
	}
}

// spans returns the reservations of a pool.
func (i *item) spans() []span {
	out := make([]span, len(i.holds))
	for n, r := range i.holds {
		out[n] = span{pool: i}
		out[n].first, out[n].last = snapshot.Bounds(i.block, r)
	}
	return out
}

// mark returns a short hash of a span. It is so short that the marks of 64 reservations fit into one annotation.
func (s span) mark() string {
	sum := sha256.Sum256([]byte(s.first.String() + "-" + s.last.String()))
	return hex.EncodeToString(sum[:5])
}

// withMarks adds the marks of the mirror's reservations to the annotations of a pool.
func withMarks(annotations map[string]string, holds []client.Reservation, block netip.Prefix) map[string]string {
	all := maps.Clone(annotations)
	if all == nil {
		all = map[string]string{}
	}
	var marks []string
	for _, s := range (&item{block: block, itemDetails: &itemDetails{holds: holds}}).spans() {
		marks = append(marks, s.mark())
	}
	all[shadowRanges] = strings.Join(marks, " ")
	return all
}

// reservations compares the reservations that come from ranges. It keeps the reservations of users. If all is true, the existing reservations with
// equal addresses also become the mirror's.
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
	c.spec["reservations"] = append([]client.Reservation{}, list...)
	c.annotations[shadowRanges] = orNull(strings.Join(marks, " "))
}

// lengths compares the limits of the prefix lengths. If the source has no limits, it does nothing.
func (c *change) lengths() {
	var want client.IPPoolSpec
	c.i.lengths(&want)
	if want.Allocation == nil {
		return
	}
	have, err := c.is.rest()
	if err != nil {
		return
	}
	now := map[string]any{}
	then := map[string]any{}
	text, err := show.Marshal(want.Allocation)
	if err != nil || json.Unmarshal(text, &then) != nil || have["allocation"] != nil && json.Unmarshal(have["allocation"], &now) != nil {
		return
	}
	patch := map[string]any{}
	for _, name := range []string{"minPrefixLength", "maxPrefixLength", "defaultPrefixLength"} {
		if then[name] != nil && then[name] != now[name] {
			c.what = append(c.what, fmt.Sprintf("%s %v → %v", name, now[name], then[name]))
			patch[name] = then[name]
		}
	}
	if len(patch) > 0 {
		c.spec["allocation"] = patch
	}
}

// change sends a change. The request requires the revision that was compared.
func (r *run) change(ctx context.Context, c change) error {
	patch := map[string]any{}
	metadata := map[string]any{}
	for name, members := range map[string]map[string]any{"labels": c.labels, "annotations": c.annotations} {
		if len(members) > 0 {
			metadata[name] = members
		}
	}
	if len(metadata) > 0 {
		patch["metadata"] = metadata
	}
	if len(c.spec) > 0 {
		patch["spec"] = c.spec
	}
	body, err := show.Marshal(patch)
	if err != nil {
		return err
	}
	_, err = r.sendWithRetry(ctx, func() (session.Answer, error) {
		return r.Ask(ctx, session.Request{Method: http.MethodPatch, Path: c.is.path(), Body: body, Match: `"` + c.is.changed() + `"`})
	})
	items := append([]*item{c.i}, c.ranges...)
	refusal, refused := errors.AsType[*session.Refusal](err)
	switch {
	case err == nil:
		r.settle(items[:1], outcomeChanged, c.i.why)
		for _, i := range items[1:] {
			i.end(outcomeChanged, i.why)
		}
	case refused && refusal.Status == http.StatusPreconditionFailed:
		r.settle(items[:1], outcomeLeft, "it changed during this pass: the next pass compares it again")
	case refused && exit.CodeOf(err) != exit.Unavailable && refusal.Status != http.StatusUnauthorized:
		r.settle(items[:1], outcomeRefused, reason(refusal))
	default:
		return err
	}
	return nil
}

// path returns the path of an item on the server.
func (i *item) path() []string {
	collection := "claims"
	if i.isPool() {
		collection = "pools"
	}
	return []string{"projects", i.project(), collection, i.name}
}

// release deletes objects that the mirror made and that the source no longer has. It deletes each object only at the revision that was compared.
// Claims come first, and then pools, with inner pools before outer pools. If the server refuses a deletion, that object stays.
func (m *mirror) release(ctx context.Context, items []*item) error {
	r := &run{Session: m.Session, parallel: m.parallel, progress: newProgress(m.Program, len(items))}
	defer r.progress.end()
	claims := slices.IndexFunc(items, (*item).isPool)
	if claims < 0 {
		claims = len(items)
	}
	if err := r.each(ctx, claims, func(ctx context.Context, n int) error { return r.remove(ctx, items[n]) }); err != nil {
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
	_, err := r.sendWithRetry(ctx, func() (session.Answer, error) {
		return r.Ask(ctx, session.Request{Method: http.MethodDelete, Path: e.path(), Match: `"` + e.changed() + `"`})
	})
	refusal, refused := errors.AsType[*session.Refusal](err)
	switch {
	case err == nil, exit.CodeOf(err) == exit.NotFound:
		r.settle([]*item{e}, outcomeReleased, e.why)
	case refused && refusal.Status == http.StatusPreconditionFailed:
		r.settle([]*item{e}, outcomeHeldBack, "it changed during this pass: the next pass compares it again")
	case refused && exit.CodeOf(err) != exit.Unavailable && refusal.Status != http.StatusUnauthorized:
		r.settle([]*item{e}, outcomeHeldBack, reason(refusal))
	default:
		return err
	}
	return nil
}
