package app

import (
	"context"
	"testing"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

func TestMain(m *testing.M) {
	dbtest.Main(m, dbtest.Config{Migrate: func(ctx context.Context, dsn string) error {
		return crdb.Migrate(ctx, dsn, crdb.MigrateOptions{Regions: []string{"local"}})
	}})
}
