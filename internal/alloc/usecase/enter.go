package usecase

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// The ways into a project. A caller comes with a project name and with roles that were read before. Another tenant's project may have the name by
// now. So every use case finds its project by one of these functions, which compare the project in the database with the role's project. All later
// statements use the project's id.

// Enter authorises an action on a project and reads the project.
func (s *Core) Enter(ctx context.Context, action tenancy.Action, project string) (tenancy.Principal, storage.ProjectKey, error) {
	pass, err := tenancy.Authorize(ctx, action, project)
	if err != nil {
		return pass.Principal, storage.ProjectKey{}, err
	}
	key, err := s.ProjectKey(ctx, pass)
	return pass.Principal, key, err
}

// EnterCached is Enter without the read, if the project is in the cache. The caller must find rows under the key's id. If it finds none, the name
// may belong to another project by now, and the caller must check with ProjectKey.
func (s *Core) EnterCached(ctx context.Context, action tenancy.Action, project string) (tenancy.Pass, storage.ProjectKey, bool, error) {
	pass, err := tenancy.Authorize(ctx, action, project)
	if err != nil {
		return pass, storage.ProjectKey{}, false, err
	}
	if key, known := s.Projects.Get(project); known && pass.CheckProject(key) == nil { // no cached fact decides a refusal
		return pass, key, true, nil
	}
	key, err := s.ProjectKey(ctx, pass)
	return pass, key, false, err
}

// ProjectKey reads the project that a pass is for, and caches it. It reads the latest data, so that the caller learns nothing about a deleted project
// of the same name. Every region reads projects locally.
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
	if err := pass.CheckProject(storage.Key(p)); err != nil {
		return ipam.Project{}, err
	}
	return p, nil
}

// CheckProjectExists returns not found if the project was deleted since Enter read it.
func CheckProjectExists(ctx context.Context, read storage.Reader, key storage.ProjectKey) error {
	p, err := read.ProjectGet(ctx, key.Name)
	if err == nil && p.UID != key.ID {
		return tenancy.ProjectNotFound(key.Name)
	}
	return err
}
