package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/crdb"
)

// A project that contains objects cannot be deleted. A deleted project leaves nothing behind.
func TestProjectIsDeletedOnlyWhenEmpty(t *testing.T) {
	t.Parallel()
	town := setupMarket(t)
	north, south := town.north, town.south
	north.share(t, "market", "shared")
	north.grant(t, "market", "south")
	for _, policy := range []string{"Delete", "Retain"} {
		south.admin().created(t, south.take(t, strings.ToLower(policy), buy(obj{"prefixLength": 32, "reclaimPolicy": policy})))
	}
	path := "/v1/projects/south"
	uid := decode[client.Project](t, town.ok(t, town.do(t, http.MethodGet, path, nil))).Metadata.UID
	refused := func() {
		t.Helper()
		town.writesNothing(t, func() { town.refused(t, town.do(t, http.MethodDelete, path, nil), "in_use") })
	}
	c := south.admin()
	remove := func(collection string, names ...string) {
		t.Helper()
		for _, name := range names {
			c.deleted(t, c.do(t, http.MethodDelete, south.at(collection, name), nil))
		}
	}
	refused()
	remove("claims", south.named("claim"), south.named("delete"), south.named("retain"))
	refused()
	for _, kept := range all[client.IPAllocation](t, c, south.at("allocations")+"?phase=Retained") {
		remove("allocations", kept.Metadata.Name)
	}
	remove("pools", south.named("child"), south.named("lab"), south.named("racks"), "default")
	refused()
	remove("spaces", south.named("space"))
	t.Run("WhileItsRetainedBlockLiesInAnothersPool", func(t *testing.T) {
		kept := all[client.IPAllocation](t, north.admin(), north.at("allocations")+"?phase=Retained&pool=market")
		for _, each := range kept {
			if each.Spec.Consumer == "south" {
				refused()
				north.admin().deleted(t, north.admin().do(t, http.MethodDelete, north.at("allocations", each.Metadata.Name), nil))
				return
			}
		}
		t.Fatal("there is no such block")
	})
	require.Positive(t, mentions(town.dump(t), uid), "the control: it is found where it is")
	t.Run("ByOthersIsRefused", func(t *testing.T) {
		c.refused(t, c.do(t, http.MethodDelete, path, nil), "permission_denied")
		north.admin().refused(t, north.admin().do(t, http.MethodDelete, path, nil), "not_found")
	})
	t.Run("LeavesNothing", func(t *testing.T) {
		made := town.newEvents(t, func() { town.deleted(t, town.do(t, http.MethodDelete, path, nil)) })
		require.Len(t, made, 1)
		require.Equal(t, []string{"platform", "deleteProject", "Project", "south", "ok"},
			[]string{made[0].Project, made[0].Operation, made[0].Kind, made[0].Name, made[0].Outcome})
		// A later purge deletes the rest. It needs a database user that may delete records. The user of these servers may not.
		store, err := crdb.Open(t.Context(), town.dsn, crdb.Options{Region: region})
		require.NoError(t, err)
		defer store.Close()
		for purged := int64(1); purged > 0; {
			purged, err = store.Purge(t.Context(), 1000)
			require.NoError(t, err)
		}
		require.Zero(t, mentions(town.dump(t), uid))
	})
	t.Run("ItsKeysAreDead", func(t *testing.T) {
		heededWithin(t, func() bool { return c.do(t, http.MethodGet, "/v1/whoami", nil).status == http.StatusUnauthorized })
	})
	t.Run("ALaterProjectOfTheNameInheritsNothing", func(t *testing.T) {
		town.newProject(t, "south")
		for _, list := range []string{"members", "api-keys", "quotas", "pools", "classes", "claims", "allocations", "audit-events"} {
			for _, each := range all[obj](t, town.caller, in("south", list)) {
				t.Errorf("%s has %v", list, each)
			}
		}
		c.refused(t, c.do(t, http.MethodGet, path, nil), "unauthenticated")
		require.Empty(t, all[client.HistoryEntry](t, town.caller, in("south", "history")+"?address=10.0.1.1"))
		require.NotEmpty(t, north.heldAt(t, "192.0.2.1", time.Now()), "the others have what they had")
	})
}

// mentions counts the rows that contain an id. The record of a project's deletion also names the project. It stays in the audit trail of the
// platform.
func mentions(dump map[string][]string, id string) int {
	n := 0
	for _, rows := range dump {
		for _, row := range rows {
			if strings.Contains(row, id) {
				n++
			}
		}
	}
	return n
}
