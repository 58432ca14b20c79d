package crdb_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// The test checks which values of target_session_attrs a database URL may have. Carve's sessions are read-only until a transaction declares that it
// writes. So the driver's own check for a writable server would reject even a primary. Carve must accept the primary.
func TestEveryTargetSessionAttrsIsServedOrRefused(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	for value, works := range map[string]bool{
		"": true, "any": true, "primary": true, "read-write": true, "read-only": false, "standby": false, "prefer-standby": false, "nonsense": false,
	} {
		asked := dsn
		if value != "" {
			asked += "&target_session_attrs=" + value
		}
		migrated := schema.Migrate(t.Context(), asked, schema.MigrateOptions{Regions: []string{region}})
		s, err := crdb.Open(t.Context(), asked, crdb.Options{Region: region})
		require.Equal(t, works, migrated == nil, "migrate, %q: %v", value, migrated)
		require.Equal(t, works, err == nil, "the server, %q: %v", value, err)
		if works {
			require.NoError(t, makeProject(admin(t), s, "p-"+value+"x"))
			s.Close()
			continue
		}
		require.Equal(t, migrated.Error(), err.Error(), "both say the same")
		if value != "nonsense" {
			require.ErrorContains(t, err, "target_session_attrs=primary")
		}
	}
}

// If the URL names several hosts, the store uses the primary. The order of the hosts does not matter.
func TestPrimaryIsFoundAmongSeveralHosts(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	hosts := func(of ...string) string {
		var dirs, ports []string
		for _, dsn := range of {
			u, err := url.Parse(dsn)
			require.NoError(t, err)
			dirs, ports = append(dirs, u.Query().Get("host")), append(ports, "5432")
		}
		return "postgres:///carve?user=postgres&host=" + url.QueryEscape(strings.Join(dirs, ",")) + "&port=" + url.QueryEscape(strings.Join(ports, ","))
	}
	for i, dsn := range []string{
		hosts(p.StandbyDSN(), p.PrimaryDSN()), hosts(p.PrimaryDSN(), p.StandbyDSN()),
		hosts(p.StandbyDSN(), p.PrimaryDSN()) + "&target_session_attrs=read-write", hosts(p.StandbyDSN(), p.PrimaryDSN()) + "&target_session_attrs=primary",
	} {
		require.NoError(t, schema.Migrate(t.Context(), dsn, schema.MigrateOptions{Regions: []string{region}}), dsn)
		require.NoError(t, makeProject(admin(t), open(t, dsn), fmt.Sprintf("p-%d", i)), dsn)
	}
	_, err := crdb.Open(t.Context(), p.StandbyDSN()+"&target_session_attrs=read-write", crdb.Options{Region: region})
	require.ErrorContains(t, err, "standby")
	_, err = audit.Run(t.Context(), p.StandbyDSN()+"&target_session_attrs=standby")
	require.NoError(t, err, "who only reads may ask a standby")
}
