package plan

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// These are the actions on an object of the plan. Some are planned and the others are done.
const (
	actionCreated   = "created"
	actionToCreate  = "to create"
	actionChanged   = "changed"
	actionToChange  = "to change"
	actionDeleted   = "deleted"
	actionToDelete  = "to delete"
	actionUnchanged = "unchanged"
	actionDiffers   = "differs" // the object differs in a field that cannot be changed
)

// did maps a planned action to the action when it is done.
var did = map[string]string{actionToCreate: actionCreated, actionToChange: actionChanged, actionToDelete: actionDeleted}

// step is the planned or finished action on one object.
type step struct {
	Action  string   `json:"action"`
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`
	CIDR    string   `json:"cidr,omitempty"`
	Detail  string   `json:"detail,omitempty"`
	Changes []change `json:"changes,omitempty"`
	// body is the body of the request. revision is the revision with which the plan was compared.
	body     json.RawMessage
	revision string
	parent   string
	after    int // index of the step that must run before this one; -1 if there is none
	depth    int
}

// decide compares the objects of the plan with the existing objects and returns the necessary steps.
func decide(project, owner string, all []wanted, there world, prune bool) ([]step, error) {
	steps := make([]step, 0, len(all))
	named := map[string]map[string]bool{}
	for _, w := range all {
		if named[w.kind] == nil {
			named[w.kind] = map[string]bool{}
		}
		named[w.kind][w.name] = true
		st := step{Action: actionToCreate, Kind: w.kind, Name: w.name, CIDR: w.cidr, body: w.create, parent: w.parent, after: w.after, depth: w.depth}
		if is, found := there[w.kind][w.name]; found {
			if err := st.compare(project, owner, w, is); err != nil {
				return nil, err
			}
		}
		steps = append(steps, st)
	}
	if prune {
		steps = append(steps, pruned(owner, named, there)...)
	}
	return steps, nil
}

// compare sets the action for an object that exists.
func (st *step) compare(project, owner string, w wanted, is found) error {
	st.Action, st.CIDR, st.revision, st.body = actionUnchanged, is.cidr, is.revision, nil
	d, err := w.fixedDifferences(project, is)
	if err != nil {
		return err
	}
	if other, _ := member(member(is.doc, "metadata"), "labels")[labelOfPlan].(string); owner != "" && other != "" && other != owner {
		d = append(d, "it belongs to plan "+other)
	}
	patch, changes := merged("", changeable(w.kind, w.fields), recordedFields(is.doc, owner), is.doc)
	st.Changes = slices.DeleteFunc(changes, func(c change) bool { return strings.HasSuffix(c.Field, annotationFields) })
	switch {
	case len(d) > 0:
		st.Action = actionDiffers
	case len(patch) > 0:
		st.Action = actionToChange
		if st.body, err = show.Marshal(patch); err != nil {
			return err
		}
	}
	st.Detail = detail(d, st.Changes)
	if st.Action == actionToChange && st.Detail == "" {
		st.Detail = "records the fields of the plan"
	}
	return nil
}

// detail returns all differences in one line.
func detail(d verbs.Differences, changes []change) string {
	parts := slices.Clone(d)
	for _, c := range changes {
		parts = append(parts, c.String())
	}
	return parts.String()
}

// String returns the change in one line.
func (c change) String() string {
	name := strings.TrimPrefix(strings.TrimPrefix(c.Field, "metadata."), "spec.")
	return name + ": " + valueText(c.From) + " -> " + valueText(c.To)
}

func valueText(v any) string {
	switch v {
	case nil:
		return "(none)"
	case "":
		return `""`
	}
	return text(v)
}
