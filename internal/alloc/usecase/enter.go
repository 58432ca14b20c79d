package usecase

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// The ways into a project. A caller comes with a name and with roles that were read before; another tenant's project may have the name by
// now. So every use case finds its project by one of these, which compare the project that is there with the one that the role is in, and what
// it does from then on it does under the project's id.

// Enter authorises an action on a project and resolves the project: one read.
func (s *Core) Enter(ctx context.Context, action tenancy.Action, project string) (tenancy.Principal, storage.ProjectKey, error) {
	pass, err := tenancy.Authorize(ctx, action, project)
	if err != nil {
		return pass.Principal, storage.ProjectKey{}, err
	}
	key, err := s.ProjectKey(ctx, pass)
	return pass.Principal, key, err
}

// EnterRemembered is enter, without the read if the server remembers the project. What follows has to find rows under the key's id; if
// it finds none, the project may be another one by now, and ProjectKey says so.
func (s *Core) EnterRemembered(ctx context.Context, action tenancy.Action, project string) (tenancy.Pass, storage.ProjectKey, bool, error) {
	pass, err := tenancy.Authorize(ctx, action, project)
	if err != nil {
		return pass, storage.ProjectKey{}, false, err
	}
	if key, known := s.Projects.Get(project); known && pass.Into(key) == nil { // nobody is refused for what is remembered
		return pass, key, true, nil
	}
	key, err := s.ProjectKey(ctx, pass)
	return pass, key, false, err
}

// ProjectKey reads the project that a pass is for, and remembers it. What another had of the name, which was deleted a moment ago, is none of
// the caller's business: so this is read as it was written last. Projects are read at home in every region.
func (s *Core) ProjectKey(ctx context.Context, pass tenancy.Pass) (storage.ProjectKey, error) {
	p, err := EnterBy(ctx, s.Store, pass)
	if err != nil {
		return storage.ProjectKey{}, err
	}
	s.Projects.Add(p.Name, storage.Key(p))
	return storage.Key(p), nil
}

// EnterBy reads the project that a pass is for.
func EnterBy(ctx context.Context, read storage.Reader, pass tenancy.Pass) (ipam.Project, error) {
	p, err := read.ProjectGet(ctx, pass.Project)
	if err != nil {
		return ipam.Project{}, err
	}
	if err := pass.Into(storage.Key(p)); err != nil {
		return ipam.Project{}, err
	}
	return p, nil
}

// StillThere refuses to make something in a project that was deleted since enter looked it up.
func StillThere(ctx context.Context, read storage.Reader, key storage.ProjectKey) error {
	p, err := read.ProjectGet(ctx, key.Name)
	if err == nil && p.UID != key.ID {
		return tenancy.ProjectNotFound(key.Name)
	}
	return err
}
