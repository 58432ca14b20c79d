package schema_test

import (
	"context"
	"testing"

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// region is the region of all rows in the tests. dbtest starts CockroachDB with this region.
const region = "local"

func TestMain(m *testing.M) {
	dbtest.Main(m, dbtest.Config{Migrate: func(ctx context.Context, dsn string) error {
		return schema.Migrate(ctx, dsn, options(region))
	}})
}
