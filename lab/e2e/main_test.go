package e2e

import (
	"context"
	"flag"
	"runtime"
	"strconv"
	"testing"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// region is where the servers of these tests work; the default of the flag.
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

// overlap lets more tests run at the same time than there are processors, unless -parallel says how many: some wait for
// other processes, or for a server to give up, most of their time.
func overlap() {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if said {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err) // the flag is package testing's
	}
}
