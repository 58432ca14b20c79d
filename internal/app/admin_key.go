package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/access"
	"github.com/carve-ipam/carve/internal/ipam"
)

// makeFirstKey creates an API key for a platform admin if the embedded database has no admin. It writes the token to the configured file, or keeps it
// so that Greet can show it.
func (a *App) makeFirstKey(ctx context.Context, c Config, service *alloc.Service) error {
	token, made, err := service.EnsureBootstrap(ctx)
	if err != nil || !made {
		return err
	}
	a.bootstrap = token
	a.Log.WarnContext(ctx, "made the first key, which may do everything and does not expire: use it to make members or keys with an expiry, then revoke it",
		"project", ipam.PlatformProject, "key", access.BootstrapKey)
	if c.AdminKeyFile == "" {
		return nil
	}
	if err := writeKey(c.AdminKeyFile, token); err != nil {
		return fmt.Errorf("--admin-key-file: cannot write the first key (`ipamctl bootstrap` makes another): %w", err)
	}
	return nil
}

// writeKey writes the key to a new file that only the server's user can read. It fails if the file exists.
func writeKey(name, token string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(token + "\n")
	return errors.Join(err, f.Sync(), f.Close())
}
