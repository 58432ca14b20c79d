package usecase

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// A use case finds its project only with the functions below. A caller has a project name, and roles that were read earlier. Another tenant's project
// may have the name by now. So these functions compare the project in the database with the role's project. All later statements use the project's
// id.

// Enter authorizes an action on a project and reads the project.
func (s *Core) Enter(ctx context.Context, action tenancy.Action, project string) (tenancy.Principal, storage.ProjectKey, error) {
	pass, err := tenancy.Authorize(ctx, action, project)
	if err != nil {
		return pass.Principal, storage.ProjectKey{}, err
	}
	key, err := s.ProjectKey(ctx, pass)
	return pass.Principal, key, err
}

// EnterCached works like Enter, but without the read if the project is in the cache. The returned bool reports whether the project comes from the
// cache. The caller must then find rows with the project's id. If it finds none, another project may have the name by now, and the caller must call
// ProjectKey.
func (s *Core) EnterCached(ctx context.Context, action tenancy.Action, project string) (tenancy.Pass, storage.ProjectKey, bool, error) {
	pass, err := tenancy.Authorize(ctx, action, project)
	if err != nil {
		return pass, storage.ProjectKey{}, false, err
	}
	if key, known := s.Projects.Get(project); known && pass.CheckProject(key) == nil { // a cached fact must not decide a refusal
		return pass, key, true, nil
	}
	key, err := s.ProjectKey(ctx, pass)
	return pass, key, false, err
}

// ProjectKey reads a pass's project, and caches it. It reads the latest data, so that the caller learns nothing about a deleted project with the same
// name. Every region can read projects locally.
func (s *Core) ProjectKey(ctx context.Context, pass tenancy.Pass) (storage.ProjectKey, error) {
	p, err := EnterBy(ctx, s.Store, pass)
	if err != nil {
		return storage.ProjectKey{}, err
	}
	s.Projects.Add(p.Name, storage.Key(p))
	return storage.Key(p), nil
}

// EnterBy reads a pass's project.
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

// CheckProjectExists returns not found if the project was deleted after Enter read it.
func CheckProjectExists(ctx context.Context, read storage.Reader, key storage.ProjectKey) error {
	p, err := read.ProjectGet(ctx, key.Name)
	if err == nil && p.UID != key.ID {
		return tenancy.ProjectNotFound(key.Name)
	}
	return err
}
