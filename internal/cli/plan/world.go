package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// head has the fields that this package needs by name.
type head struct {
	Metadata client.Metadata `json:"metadata"`
	Spec     struct {
		Region     client.Name   `json:"region"`
		ClassNames []client.Name `json:"classNames"`
	} `json:"spec"`
	Status struct {
		AllocatedCIDR string              `json:"allocatedCIDR"`
		ParentRef     *client.ResolvedRef `json:"parentRef"`
		SpaceRef      *client.ResolvedRef `json:"spaceRef"`
		PoolRef       *client.ResolvedRef `json:"poolRef"`
		ClassName     client.Name         `json:"className"`
		ClassProject  client.Name         `json:"classProject"`
	} `json:"status"`
}

// found is an object that exists on the server.
type found struct {
	head
	doc     object
	parent  string   // the pool that contains a pool or a claim
	space   string   // only for a root pool
	classes []string // names: a pool lists its classes, and a claim has one class
}

// world has the objects on the server, by kind and name. It has only the kinds that readWorld reads.
type world map[string]map[string]found

// readWorld reads each kind that the plan contains, and with prune each kind that the plan may have created.
func readWorld(ctx context.Context, s *session.Session, steps []step, prune bool) (world, error) {
	has := map[string]bool{kindSpace: true, kindPool: true}
	for _, st := range steps {
		has[st.Kind] = true
	}
	out := world{kindProject: {}}
	a, err := s.Ask(ctx, session.Get("projects", s.Project))
	switch {
	case exit.CodeOf(err) == exit.NotFound:
		out[kindSpace] = map[string]found{defaultSpace: {doc: object{}}}
		return out, nil
	case err != nil:
		return nil, err
	}
	if err := out.put(kindProject, s.Project, a.Body); err != nil {
		return nil, err
	}
	for _, kind := range kindsInOrder[1:] {
		if !has[kind] && !prune {
			continue
		}
		out[kind] = map[string]found{}
		err := converge.Pages(ctx, s, nil, s.In(show.Plural(kind)), nil, func(doc json.RawMessage) error { return out.put(kind, s.Project, doc) })
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// put adds one object. It ignores a class of another project, because that class can have the same name as a class in the plan.
func (w world) put(kind, project string, raw json.RawMessage) error {
	f, err := foundIn(kind, project, raw)
	if err == nil && (kind != kindClass || f.Metadata.Project == project) {
		w[kind][f.Metadata.Name] = f
	}
	return err
}

func foundIn(kind, project string, raw json.RawMessage) (f found, err error) {
	if err = cmp.Or(json.Unmarshal(raw, &f.head), json.Unmarshal(raw, &f.doc)); err != nil {
		return f, fmt.Errorf("cannot read the server's response: %w", err)
	}
	f.parent, f.classes = show.RefText(f.Status.ParentRef, project), f.Spec.ClassNames
	switch {
	case kind == kindClaim:
		f.parent = show.RefText(f.Status.PoolRef, project)
		if f.Status.ClassProject == project {
			f.classes = []string{f.Status.ClassName}
		}
	case kind == kindPool && f.parent == "":
		f.space = show.RefText(f.Status.SpaceRef, project)
	}
	if spec := member(f.doc, "spec"); kind == kindPool && spec["regions"] == nil { // without a list, only the pool's home region serves the pool
		spec["regions"] = []any{show.FirstOf(f.Spec.Region, f.Metadata.Region)}
	}
	return f, nil
}
