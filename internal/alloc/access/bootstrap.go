package access

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// BootstrapKey is the name of an installation's first key.
const BootstrapKey = "bootstrap"

// EnsureBootstrap makes sure that the installation has an admin, because without one it is unusable. If the project "platform" has no permanent
// admin, EnsureBootstrap makes a key with the role admin. It returns this key's token. Otherwise, created is false.
func (s *Keys) EnsureBootstrap(ctx context.Context) (token string, created bool, err error) {
	platform, err := s.of.Store.ProjectGet(ctx, ipam.PlatformProject)
	if err != nil {
		return "", false, err
	}
	for _, m := range []ipam.Metadata{{Name: BootstrapKey}, generatedBootstrap()} {
		n, err := s.of.Store.AdminCount(ctx, platform.UID)
		if err != nil || n > 0 {
			return "", false, err
		}
		k, err := s.bootstrap(ctx, m, "Created when the server started without an admin.")
		if !ipam.IsCode(err, ipam.CodeAlreadyExists) {
			return k.Token, err == nil, err
		}
		// Another server was first, or the name belongs to a key that expires or does not have the role admin. Try a generated name.
	}
	return "", false, storage.Contention(nil)
}

// Bootstrap makes a key with the role admin in the project "platform", and returns its token. It does so even if such keys exist. It checks no
// permission, because its caller has access to the database and could write the row anyway.
func (s *Keys) Bootstrap(ctx context.Context) (token string, err error) {
	k, err := s.bootstrap(ctx, generatedBootstrap(), "Created directly in the database.")
	return k.Token, err
}

func generatedBootstrap() ipam.Metadata {
	m := ipam.Metadata{GeneratedFrom: BootstrapKey + "-"}
	m.Rename()
	return m
}

func (s *Keys) bootstrap(ctx context.Context, m ipam.Metadata, description string) (ipam.APIKey, error) {
	ctx = tenancy.WithPrincipal(ctx, tenancy.System())
	ctx = tenancy.WithOrigin(ctx, tenancy.Origin{Operation: "bootstrap"})
	made, err := s.CreateKey(ctx, ipam.PlatformProject, ipam.APIKey{
		Metadata: m, Spec: ipam.APIKeySpec{Role: string(tenancy.Admin), Description: description},
	}, usecase.Request{})
	return made.Value, err
}
