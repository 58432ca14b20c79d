package alloc

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// The ways into a project. A caller comes with a name and with roles that were read before; another tenant's project may have the name by
// now. So every use case finds its project by one of these, which compare the project that is there with the one that the role is in, and what
// it does from then on it does under the project's id.

// enter authorises an action on a project and resolves the project: one read.
func (s *Service) enter(ctx context.Context, action tenancy.Action, project string) (tenancy.Principal, ProjectKey, error) {
	pass, err := tenancy.Authorize(ctx, action, project)
	if err != nil {
		return pass.Principal, ProjectKey{}, err
	}
	strongFor(ctx, action)
	key, err := s.projectKey(ctx, pass)
	return pass.Principal, key, err
}

// enterRemembered is enter, without the read if the server remembers the project. What follows has to find rows under the key's id; if
// it finds none, the project may be another one by now, and projectKey says so.
func (s *Service) enterRemembered(ctx context.Context, action tenancy.Action, project string) (tenancy.Pass, ProjectKey, bool, error) {
	pass, err := tenancy.Authorize(ctx, action, project)
	if err != nil {
		return pass, ProjectKey{}, false, err
	}
	strongFor(ctx, action)
	if key, known := s.memory.projects.Get(project); known && pass.Into(key) == nil { // nobody is refused for what is remembered
		return pass, key, true, nil
	}
	key, err := s.projectKey(ctx, pass)
	return pass, key, false, err
}

// projectKey reads the project that a pass is for, and remembers it. What another had of the name, which was deleted a moment ago, is none of
// the caller's business: so this is never stale. Projects are read at home in every region.
func (s *Service) projectKey(ctx context.Context, pass tenancy.Pass) (ProjectKey, error) {
	p, err := enterBy(strong(ctx), s.store, pass)
	if err != nil {
		return ProjectKey{}, err
	}
	s.memory.projects.Add(p.Name, Key(p))
	return Key(p), nil
}

// enterBy reads the project that a pass is for.
func enterBy(ctx context.Context, read Reader, pass tenancy.Pass) (ipam.Project, error) {
	p, err := read.ProjectGet(ctx, pass.Project)
	if err != nil {
		return ipam.Project{}, err
	}
	if err := pass.Into(Key(p)); err != nil {
		return ipam.Project{}, err
	}
	return p, nil
}

// stillThere refuses to make something in a project that was deleted since enter looked it up.
func stillThere(ctx context.Context, read Reader, key ProjectKey) error {
	p, err := read.ProjectGet(ctx, key.Name)
	if err == nil && p.UID != key.ID {
		return tenancy.ProjectNotFound(key.Name)
	}
	return err
}
