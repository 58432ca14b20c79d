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

// transactionsFile is what requests send to the database, in which tools/sqlcheck looks for statements of other regions.
var transactionsFile = filepath.Join("testdata", "transactions.json")

// recorded is a request and the attempts that it made of the database: reads, and transactions.
type recorded struct {
	Request  string      `json:"request"`
	Attempts []attempted `json:"attempts"`
}

// What each request sends, in how many round trips, is what somebody has looked at: a round trip more is a decision, and not an accident.
// Each request is the first that its server gets, which then remembers nothing, and has a database of its own.
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
	var lines []string // one object a line: a change of one request is one line of a difference
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		t.Run(name, func(t *testing.T) { // whose database and connections go with it
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

// record runs a request and answers what it sent.
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
	_, err := store.FeedMark(t.Context()) // as a server does when it starts; how often that asks depends on others
	require.NoError(t, err)
	tap.take() // what opening says
	require.NoError(t, r.do(admin(t), server{svc: alloc.New(store, alloc.Options{Region: region, Webhooks: hooked}), store: store}, in))
	said := tap.take()
	for i, a := range said { // a store looks for new regions now and then, on a slow machine between two of a request's transactions
		if len(a.Trips) > 1 && slices.Equal(a.Trips[0], []string{"region_list"}) {
			said[i].Trips = a.Trips[1:]
		}
	}
	return said
}
