package api

import (
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/ipam"
)

// filterParams are the query parameters that filter lists. Each list operation has some.
type filterParams struct {
	labels, space, parent, pool, class, within, contains *string
}

// filter parses the parameters.
func (p filterParams) filter(project string) (f paging.Filter, err error) {
	if f.Labels, err = codec.LabelFilter(value(p.labels)); err != nil {
		return f, err
	}
	if f.Within, err = codec.Block("query:within", value(p.within)); err != nil {
		return f, err
	}
	if f.Contains, err = codec.Address("query:contains", value(p.contains)); err != nil {
		return f, err
	}
	f.Space, f.Parent, f.Pool = refFilter(project, p.space), refFilter(project, p.parent), refFilter(project, p.pool)
	f.Class = value(p.class)
	return f, nil
}

// refFilter parses `name` or `project/name`. A bare name is in the path's project.
func refFilter(project string, s *string) ipam.Ref {
	if s == nil {
		return ipam.Ref{}
	}
	if other, name, ok := strings.Cut(*s, "/"); ok {
		return ipam.Ref{Project: other, Name: name}
	}
	return ipam.Ref{Project: project, Name: *s}
}
