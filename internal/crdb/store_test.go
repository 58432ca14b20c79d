package crdb_test

import (
	"testing"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/storetest"
)

// dbtest selects the engine: PostgreSQL by default, or CockroachDB with `make test-crdb`.
func TestStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Bundle {
		t.Helper()
		dsn := dbtest.New(t)
		store := open(t, dsn)
		return storetest.Bundle{
			Store:     store,
			Keys:      store,
			Region:    region,
			Dump:      func(t testing.TB) map[string][]string { t.Helper(); return dbtest.Dump(t, dbtest.Connect(t, dsn, nil)) },
			Isolation: crdb.Isolation,
		}
	})
}
