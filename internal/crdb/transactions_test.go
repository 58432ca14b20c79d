package crdb_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// transactionsFile contains the statements of each request. tools/sqlcheck searches it for statements that read other regions.
var transactionsFile = filepath.Join("testdata", "transactions.json")

// recorded is a request with its attempts in the database. An attempt is a read or a transaction.
type recorded struct {
	Request  string      `json:"request"`
	Attempts []attempted `json:"attempts"`
}

// The statements and round trips of each request must equal the reviewed ones in testdata. So nobody adds a round trip by accident. Each request is
// the first request of its server: the cache is empty, and the database is new.
func TestRequestsSendTheRecordedStatements(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	requests := maps.Clone(readings)
	maps.Copy(requests, regionReadings)
	for name, o := range operations {
		requests[name] = reading{o.prepare, func(ctx context.Context, s server, p string) error {
			_, err := o.do(ctx, s.svc, p, o.request())
			return err
		}}
	}
	var lines []string // one object on each line, so that a changed request is one changed line in a diff
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		t.Run(name, func(t *testing.T) { // as a subtest, it closes its database and connections at the end
			line, err := json.Marshal(recorded{name, record(t, requests[name])})
			require.NoError(t, err)
			lines = append(lines, string(line))
		})
	}
	text := "[\n" + strings.Join(lines, ",\n") + "\n]\n"
	if *update {
		require.NoError(t, os.WriteFile(transactionsFile, []byte(text), 0o600))
	}
	want, err := os.ReadFile(transactionsFile)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "go test ./internal/crdb -run SendTheRecordedStatements -update, and look at what changed")
}

// record runs a request and returns its attempts.
func record(t *testing.T, r reading) []attempted {
	t.Helper()
	const in = "team"
	dsn := dbtest.New(t)
	direct := newHouse(t, dsn)
	newProject(t, direct, in)
	r.prepare(t, direct, in)
	tap := newWiretap(t, dsn, "region_list")
	store := open(t, tap.dsn, func(o *crdb.Options) { o.OnAttempt, o.MaxConnections, o.LocalTime = tap.watch, 1, sureClock() })
	defer store.Close()
	_, err := store.RecentFeedState(t.Context()) // read before, as at the start of a server, because the number of queries varies
	require.NoError(t, err)
	tap.take() // discards the statements that opened the store
	require.NoError(t, r.do(admin(t), server{svc: alloc.New(store, alloc.Options{Region: region, Webhooks: hooked}), store: store}, in))
	said := tap.take()
	for i, a := range said { // a store reads the regions at intervals; on a slow machine this can be between two transactions of a request
		if len(a.Trips) > 1 && slices.Equal(a.Trips[0], []string{"region_list"}) {
			said[i].Trips = a.Trips[1:]
		}
	}
	return said
}
