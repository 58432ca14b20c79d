package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"time"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/api/limits"
	"github.com/carve-ipam/carve/internal/console"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/oidc"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// files contains the contents of the files that the configuration names. The server reads them before it starts anything.
type files struct {
	databaseURL string // from the file or the flag; "": the embedded database
	issuers     oidc.Config
	certificate *watched[tls.Certificate] // nil: plain HTTP
	clientCAs   *watched[clientCAs]       // nil: clients need no certificate
}

// read reads the files. clock is for the watched files.
func (c Config) read(log *slog.Logger, clock func() time.Time) (f files, err error) {
	if f.databaseURL, err = c.databaseURL(log); err != nil {
		return f, err
	}
	if c.hasAuth(authOIDC) {
		if f.issuers, err = oidc.Load(c.OIDCConfig); err != nil {
			return f, fmt.Errorf("--oidc-config: %w", err)
		}
	}
	if c.tls() {
		if f.certificate, err = newCertificate(c.TLSCert, c.TLSKey, log, clock); err != nil {
			return f, err
		}
	}
	if c.TLSClientCA != "" {
		f.clientCAs, err = newClientCAs(c.TLSClientCA, log, clock)
	}
	return f, err
}

// authenticator combines the configured authentication methods. It also returns the console, whose sign-in uses the same methods.
func (a *App) authenticator(c Config, issuers oidc.Config, may limits.Limits) (auth.Authenticator, *console.Console, error) {
	ways, sign := auth.Combined{}, tenancy.SignInMethods{Members: a.keyring}
	page := console.Config{Limits: may, Log: a.Log, Keys: c.hasAuth(authKeys)}
	if c.hasAuth(authDev) {
		ways.Dev = auth.Dev{LocalOnly: true}
		page.Dev = ways.Dev
	}
	if c.hasAuth(authKeys) {
		ways.Keys, sign.Keys = a.keyring, a.keyring
	}
	if c.hasAuth(authOIDC) {
		verifier, err := oidc.New(issuers, oidc.Options{Members: a.keyring, Log: a.Log, Clock: a.store.Now})
		if err != nil {
			return nil, nil, fmt.Errorf("--oidc-config: %w", err)
		}
		ways.OIDC, sign.Issuers, page.Issuers = verifier, verifier, verifier.SignIns()
	}
	a.sessions = tenancy.NewSessions(a.store, sign, nil)
	ways.Sessions, page.Sessions = a.sessions, a.sessions
	return ways, console.New(page), nil
}

// limitsOf returns this process's limits. Each server counts separately.
func limitsOf(c Config) limits.Limits {
	return limits.Rates{Reads: c.RateReads, Writes: c.RateWrites, Anonymous: c.RateAnonymous, Work: c.RateWork, Project: c.RateProject}.Limits(nil)
}

// firstAdmin ensures that there is an admin. With the embedded database, it creates the first key. With any other database, it creates no key, and
// Greet explains how an operator can create one.
func (a *App) firstAdmin(ctx context.Context, c Config, service *alloc.Service) error {
	if !c.hasAuth(authKeys) {
		return nil
	}
	if a.embedded != nil {
		return a.makeFirstKey(ctx, c, service)
	}
	platform, err := a.store.ProjectGet(ctx, ipam.PlatformProject)
	if err != nil {
		return err
	}
	n, err := a.store.AdminCount(ctx, platform.UID)
	a.noAdmin = n == 0
	return err
}

// openStore connects to a database with the current schema, as a user with a role's rights.
func openStore(ctx context.Context, dsn, region string, role schema.Role) (*crdb.Store, error) {
	if _, err := schema.CheckUser(ctx, dsn, role); err != nil {
		return nil, err
	}
	if err := schema.Check(ctx, dsn); err != nil {
		return nil, err
	}
	return crdb.Open(ctx, dsn, crdb.Options{Region: region, MaxConnections: 2})
}

// Bootstrap creates an API key for a platform admin directly in the database, and returns its token. The database must have the current schema. Use
// Bootstrap if no admin exists.
func Bootstrap(ctx context.Context, dsn, region string) (token string, err error) {
	if err := schema.CheckRegion(ctx, dsn, region); err != nil {
		return "", err
	}
	store, err := openStore(ctx, dsn, region, schema.ServerRole)
	if err != nil {
		return "", err
	}
	defer store.Close()
	service := alloc.New(store, alloc.Options{Region: region})
	if err := service.EnsurePlatform(ctx); err != nil {
		return "", err
	}
	return service.Bootstrap(ctx)
}
