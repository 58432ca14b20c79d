package e2e

import (
	"context"
	"flag"
	"runtime"
	"strconv"
	"testing"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// region is the region of these tests' servers, and the flag's default.
const region = "local"

func TestMain(m *testing.M) {
	overlap()
	dbtest.Main(m, dbtest.Config{
		Migrate: func(ctx context.Context, dsn string) error {
			return migrateForServers(ctx, dsn)
		},
		MaxConnections: 400,
	})
}

// overlap runs more tests at the same time than the machine has processors, unless -parallel sets the number. The reason is that some tests mostly
// wait for other processes or for timeouts.
func overlap() {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if said {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err) // the flag belongs to package testing
	}
}
