package e2e

import (
	"context"
	"flag"
	"runtime"
	"strconv"
	"testing"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// region is the region of the servers in these tests. It is the default of the server's flag.
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

// overlap runs more tests at the same time than the machine has processors, unless -parallel sets a number. Many tests mostly wait for other
// processes or for timeouts.
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
