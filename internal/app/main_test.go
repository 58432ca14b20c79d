package app

import (
	"context"
	"testing"

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

func TestMain(m *testing.M) {
	dbtest.Main(m, dbtest.Config{Migrate: func(ctx context.Context, dsn string) error {
		return schema.Migrate(ctx, dsn, schema.MigrateOptions{Regions: []string{"local"}})
	}})
}
