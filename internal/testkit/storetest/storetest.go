package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Bundle is a store under test on its own empty database, with functions that show the engine's state.
type Bundle struct {
	Store  storage.Store
	Keys   tenancy.KeyStore // the same database, for authentication
	Region string           // region of the store's rows

	// Dump returns every row of every table, by table. The order of the rows depends only on their values.
	Dump func(t testing.TB) map[string][]string
	// Isolation returns the transaction's isolation level in the database's words.
	Isolation func(ctx context.Context, tx storage.Tx) (string, error)
}

// patience is the timeout of a test that hangs. Every other test is much faster.
const patience = 5 * time.Minute

// suite is one test and its bundle.
type suite struct {
	*testing.T
	Bundle
	ctx context.Context // context of the test's requests
}

// Run tests a store against the contract. open makes a new bundle for the given test.
func Run(t *testing.T, open func(t *testing.T) Bundle) {
	t.Helper()
	for _, group := range []struct {
		name  string
		tests map[string]func(*suite)
	}{
		{"Projects", projects}, {"Spaces", spaces}, {"Pools", pools}, {"Free", free}, {"Allocations", allocations},
		{"Claims", claims}, {"StoredResponses", storedResponses}, {"Missing", missing}, {"Write", writes}, {"Conflict", conflicts},
		{"Transaction", transactions}, {"Concurrent", concurrent},
		{"Members", members}, {"Keys", keys}, {"Grants", grants}, {"Quotas", quotas}, {"Usage", usages}, {"QuotaRaces", quotaRaces},
		{"Classes", classes}, {"ClassLookup", classLookups}, {"Scoped", scopedPools}, {"Cooldown", cooldowns}, {"Events", events}, {"History", history},
		{"Webhooks", webhooks}, {"Alerts", alerts},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for name, test := range group.tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					t.Cleanup(cancel)
					test(&suite{T: t, Bundle: open(t), ctx: ctx})
				})
			}
		})
	}
}
