package plan

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// These are the actions on an object. Some are planned, and the others are done.
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

// key identifies an object in a project.
type key struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// step is the planned or finished action on one object.
type step struct {
	Action string `json:"action"`
	key
	CIDR    string   `json:"cidr,omitempty"`
	Detail  string   `json:"detail,omitempty"`
	Changes []change `json:"changes,omitempty"`

	body     json.RawMessage // the request's body
	fields   object          // the object in the plan: metadata and spec
	revision string          // the revision with which the plan was compared
	parent   string          // the pool from which a pool is carved
	inTurn   bool            // create this pool after the siblings before it, because its block depends on theirs
	depth    int             // the number of pools above a pool
}

// decide compares the steps, which create all objects, with the existing objects. It returns the necessary steps.
func decide(project, owner string, steps []step, there world, prune bool) ([]step, error) {
	named := map[key]bool{}
	for n := range steps {
		st := &steps[n]
		named[st.key] = true
		if is, found := there[st.Kind][st.Name]; found {
			if err := st.compare(project, owner, is); err != nil {
				return nil, err
			}
		}
	}
	if prune {
		steps = append(steps, pruned(owner, named, there)...)
	}
	return steps, nil
}

// compare sets the action for an object that exists.
func (st *step) compare(project, owner string, is found) (err error) {
	st.Action, st.CIDR, st.revision, st.body = actionUnchanged, is.Status.AllocatedCIDR, is.Metadata.Revision, nil
	d := st.fixedDifferences(project, is)
	if other, _ := member(member(is.doc, "metadata"), "labels")[labelOfPlan].(string); owner != "" && other != "" && other != owner {
		d = append(d, "it belongs to plan "+other)
	}
	patch, changes := merged("", changeable(st.Kind, st.fields), recordedFields(is.doc, owner), is.doc)
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
	for _, c := range st.Changes {
		d = append(d, c.String())
	}
	st.Detail = d.String()
	if st.Action == actionToChange && st.Detail == "" {
		st.Detail = "records the fields of the plan"
	}
	return nil
}

// name returns the field's name in a plan.
func (c change) name() string {
	return strings.TrimPrefix(strings.TrimPrefix(c.Field, "metadata."), "spec.")
}

// String returns the change in one line.
func (c change) String() string {
	return c.name() + ": " + valueText(c.From) + " -> " + valueText(c.To)
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
