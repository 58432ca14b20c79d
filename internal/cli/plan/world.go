package plan

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// found is an object that exists on the server.
type found struct {
	raw      json.RawMessage
	doc      object
	name     string
	cidr     string
	revision string
	parent   string   // the pool that contains a pool or a claim
	space    string   // of a root pool
	classes  []string // names: a pool lists its classes, and a claim has one class
}

// world has the objects on the server, by kind and name. If the plan has no objects of a kind, world has none either.
type world map[string]map[string]found

// readWorld reads the objects of each kind that the plan contains. With prune it reads each kind that the plan may have created.
func readWorld(ctx context.Context, s *session.Session, all []wanted, prune bool) (world, error) {
	has := map[string]bool{kindSpace: true, kindPool: true}
	for _, w := range all {
		has[w.kind] = true
	}
	out := world{kindProject: {}}
	a, err := s.Ask(ctx, session.Get("projects", s.Project))
	switch {
	case exit.CodeOf(err) == exit.NotFound:
		out[kindSpace] = map[string]found{defaultSpace: {name: defaultSpace, doc: object{}}}
		return out, nil
	case err != nil:
		return nil, err
	}
	if err := out.put(kindProject, s.Project, a.Body); err != nil {
		return nil, err
	}
	for _, k := range kindsInOrder[1:] {
		if !has[k.kind] && !prune {
			continue
		}
		out[k.kind] = map[string]found{}
		list, err := s.Pages(ctx, session.Paging{}, func(ctx context.Context, paging session.Query) (session.Answer, error) {
			return s.Ask(ctx, session.Request{Path: s.In(k.collection), Query: paging})
		})
		if err != nil {
			return nil, err
		}
		for _, doc := range list.Items {
			if err := out.put(k.kind, s.Project, doc); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// put adds one object. It ignores a class of another project, because that class can have the same name as a class of the plan.
func (w world) put(kind, project string, raw json.RawMessage) error {
	f := found{raw: raw}
	var head struct {
		Metadata client.Metadata
		Status   struct {
			AllocatedCIDR string
			ParentRef     *client.ResolvedRef
			PoolRef       *client.ResolvedRef
			SpaceRef      *client.ResolvedRef
			ClassName     string
			ClassProject  string
		}
		Spec struct{ ClassNames []string }
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return fmt.Errorf("cannot read the server's response: %w", err)
	}
	if err := json.Unmarshal(raw, &f.doc); err != nil {
		return fmt.Errorf("cannot read the server's response: %w", err)
	}
	if kind == kindClass && head.Metadata.Project != project {
		return nil
	}
	f.name, f.cidr, f.revision = head.Metadata.Name, head.Status.AllocatedCIDR, head.Metadata.Revision
	f.parent = show.RefText(head.Status.ParentRef, project)
	f.classes = head.Spec.ClassNames
	switch {
	case kind == kindClaim:
		f.parent = show.RefText(head.Status.PoolRef, project)
		if head.Status.ClassProject == project {
			f.classes = []string{head.Status.ClassName}
		}
	case kind == kindPool && f.parent == "":
		f.space = show.RefText(head.Status.SpaceRef, project)
	}
	if spec := member(f.doc, "spec"); kind == kindPool && spec["regions"] == nil { // without a list, only the pool's home region serves the pool
		spec["regions"] = []any{show.FirstOf(text(spec["region"]), head.Metadata.Region)}
	}
	w[kind][f.name] = f
	return nil
}
