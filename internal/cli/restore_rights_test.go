package cli_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// withService opens the database as a server does, and calls work.
func withService(t *testing.T, dsn string, work func(s *alloc.Service, k *tenancy.Keyring)) {
	t.Helper()
	store, err := crdb.Open(t.Context(), dsn, crdb.Options{Region: "local"})
	require.NoError(t, err)
	s := alloc.New(store, alloc.Options{Region: "local"})
	work(s, tenancy.NewKeyring(store, nil))
	s.EndFeed()
	store.Close()
	idle(t, dsn)
}

// backupThenRevoke returns a database and a backup of it. Some rights were revoked after the backup.
func backupThenRevoke(t *testing.T, d *double) (dsn, dir, stolen string) {
	t.Helper()
	dsn, dir = bootstrapped(t, d), filepath.Join(t.TempDir(), "backup")
	ctx := tenancy.WithPrincipal(t.Context(), tenancy.System())
	named := func(name string) ipam.Metadata { return ipam.Metadata{Name: name} }
	withService(t, dsn, func(s *alloc.Service, _ *tenancy.Keyring) {
		require.NoError(t, s.EnsurePlatform(ctx))
		for _, name := range []string{"team", "shop", "gone"} {
			_, err := s.CreateProject(ctx, ipam.Project{Metadata: named(name)}, usecase.Request{})
			require.NoError(t, err)
			_, err = s.PutMember(ctx, name, ipam.Member{Metadata: named("corp:keeps"), Spec: ipam.MemberSpec{Role: "viewer"}}, usecase.Request{})
			require.NoError(t, err)
		}
		for _, name := range []string{"stolen", "kept"} {
			made, err := s.CreateKey(ctx, "team", ipam.APIKey{Metadata: named(name), Spec: ipam.APIKeySpec{Role: "admin"}}, usecase.Request{})
			require.NoError(t, err)
			if name == "stolen" {
				stolen = made.Value.Token
			}
		}
		for _, subject := range []string{"corp:left", "corp:moved"} {
			_, err := s.PutMember(ctx, "team", ipam.Member{Metadata: named(subject), Spec: ipam.MemberSpec{Role: "admin"}}, usecase.Request{})
			require.NoError(t, err)
		}
		_, err := s.PutSpaceGrant(ctx, "team", ipam.DefaultSpace, "shop", usecase.Request{})
		require.NoError(t, err)
		ten, five := int64(10), int64(5)
		quota := func(limit *int64) ipam.Quota {
			return ipam.Quota{Metadata: named("all"), Spec: ipam.QuotaSpec{Limits: ipam.QuotaLimits{Claims: limit}}}
		}
		_, err = s.PutQuota(ctx, "team", quota(&ten), usecase.Request{})
		require.NoError(t, err)
		s.EndFeed()
		d.done("backup", "--database-url", dsn, "--to", dir)

		require.NoError(t, s.DeleteKey(ctx, "team", "stolen", usecase.Request{}))
		require.NoError(t, s.DeleteMember(ctx, "team", "corp:left", usecase.Request{}))
		_, err = s.PutMember(ctx, "team", ipam.Member{Metadata: named("corp:moved"), Spec: ipam.MemberSpec{Role: "viewer"}}, usecase.Request{})
		require.NoError(t, err)
		require.NoError(t, s.DeleteSpaceGrant(ctx, "team", ipam.DefaultSpace, "shop", usecase.Request{}))
		_, err = s.PutQuota(ctx, "team", quota(&five), usecase.Request{})
		require.NoError(t, err)
		require.NoError(t, s.DeleteProject(ctx, "gone", usecase.Request{}))
	})
	return dsn, dir, stolen
}

func TestRestoreKeepsRevocationsSinceTheBackup(t *testing.T) {
	t.Parallel()
	d := operating(t)
	dsn, dir, stolen := backupThenRevoke(t, d)
	r := d.done("restore", "--database-url", dsn, "--from", dir, "--replace")
	for _, line := range []string{
		"revoked since the backup, and revoked again: API key team/stolen (admin)",
		"revoked since the backup, and revoked again: member team/corp:left (admin)",
		"revoked since the backup, and revoked again: grant of space default in team to shop",
		"role lowered since the backup, and lowered again: member team/corp:moved (viewer)",
		"valid again, because its project is back: member gone/corp:keeps (viewer)",
		"limits are those of the backup again: quota team/all (addresses unlimited, claims 10, pools unlimited)",
	} {
		require.Contains(t, r.err, line)
	}
	require.NotContains(t, r.err, "team/kept")
	require.NotContains(t, r.err, "team/corp:keeps")
	require.Contains(t, r.out, "audit clean\n")
	idle(t, dsn)
	withService(t, dsn, func(_ *alloc.Service, k *tenancy.Keyring) {
		_, err := k.Authenticate(t.Context(), stolen)
		require.Equal(t, ipam.CodeUnauthenticated, ipam.CodeOf(err))
		held, err := k.MemberRoles(t.Context(), "corp:left")
		require.NoError(t, err)
		require.Empty(t, held)
		held, err = k.MemberRoles(t.Context(), "corp:moved")
		require.NoError(t, err)
		require.Equal(t, tenancy.Viewer, held["team"].Role)
	})
	require.Contains(t, d.done("restore", "--database-url", dsn, "--from", dir, "--replace", "--keep-revocations=false").err, "API key team/stolen (admin)")
	idle(t, dsn)
	withService(t, dsn, func(_ *alloc.Service, k *tenancy.Keyring) {
		_, err := k.Authenticate(t.Context(), stolen)
		require.NoError(t, err)
	})
}

func TestRestoreWithoutTheOldDatabaseListsValidCredentials(t *testing.T) {
	t.Parallel()
	d := operating(t)
	_, dir, _ := backupThenRevoke(t, d)
	target := dbtest.New(t)
	r := d.done("restore", "--database-url", target, "--from", dir)
	require.Contains(t, r.err, "valid as in the backup: 3 API keys, 5 members, 1 grant, 1 quota.")
	require.Contains(t, r.err, "API key team/stolen (admin)")
	idle(t, target)
	require.Contains(t, d.done("restored", "--database-url", target).err, "API key team/stolen (admin)")
}
