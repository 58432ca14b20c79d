package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
	"github.com/carve-ipam/carve/internal/testkit/standby"
	"github.com/carve-ipam/carve/lab/serverproc"
)

// estate has two servers and one PostgreSQL. Each server has its own connection to the database. A test can kill all three.
type estate struct {
	dir, binary string
	db          *devdb.DB
	ways        [2]*pgfault.Proxy
	servers     [2]*process
	sites       []*caller
}

func newEstate(t *testing.T) *estate {
	t.Helper()
	dbtest.OnPostgres(t)
	e := &estate{dir: openDir(t), binary: serverBinary(t)}
	t.Cleanup(func() {
		require.NoError(t, e.db.Stop(context.Background()))
		_ = os.RemoveAll(e.dir)
	})
	e.startDatabase(t)
	// The database does not wait for the disk. The data survive a killed process even so, because its log contains each acknowledged commit.
	conn, err := pgx.Connect(t.Context(), e.db.DSN())
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "ALTER DATABASE carve SET synchronous_commit = on")
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	require.NoError(t, schema.Migrate(t.Context(), e.db.DSN(), schema.MigrateOptions{Regions: []string{region}}))
	for i := range e.servers {
		e.ways[i], err = pgfault.Start(context.WithoutCancel(t.Context()), e.db.DSN())
		require.NoError(t, err)
		t.Cleanup(e.ways[i].Close)
		e.startServer(t, i)
		e.sites = append(e.sites, newCaller(e.servers[i].Addr()))
		e.sites[i].outages = true
	}
	return e
}

func (e *estate) startDatabase(t *testing.T) {
	t.Helper()
	var err error
	e.db, err = devdb.Start(t.Context(), devdb.Config{DataDir: filepath.Join(e.dir, "data"), Volatile: true})
	require.NoError(t, err)
}

// startServer starts a server. It retries while the database is unavailable.
func (e *estate) startServer(t *testing.T, i int) {
	t.Helper()
	flags := []string{"--database-url=" + e.ways[i].DSN(), "--max-connections=8", "--rate-limit-reads=0", "--rate-limit-writes=0", "--request-timeout=60s"}
	require.True(t, became(t.Context(), waitLimit, func() (up bool) {
		p, err := serverproc.Start(t.Context(), howToRun(e.binary, nil, flags))
		if err == nil {
			e.servers[i] = p
			t.Cleanup(p.Kill)
		}
		return err == nil
	}))
}

// killServer kills a server with kill -9 and starts another one.
func (e *estate) killServer(t *testing.T, i int) {
	t.Helper()
	e.servers[i].Kill()
	e.startServer(t, i)
	e.sites[i].follow(e.servers[i].Addr())
}

// killDatabase kills the database with kill -9 while transactions run. They roll back, and the restarted database uses their transaction ids again.
func (e *estate) killDatabase(t *testing.T) {
	t.Helper()
	was := e.db.DSN()
	conn, err := pgx.Connect(t.Context(), was)
	require.NoError(t, err)
	var ended sync.WaitGroup
	ended.Go(func() {
		for err == nil {
			_, err = conn.Exec(t.Context(), "BEGIN READ WRITE; SELECT pg_current_xact_id(); ROLLBACK")
		}
	})
	after(t.Context(), 300*time.Millisecond)
	require.NoError(t, standby.Kill(t.Context(), e.db, filepath.Join(e.dir, "data")))
	ended.Wait()
	e.startDatabase(t)
	require.Equal(t, was, e.db.DSN())
}

// storm makes statements fail and cuts connections before and after COMMIT. calm ends these faults.
func (e *estate) storm(seed uint64) {
	for i, way := range e.ways {
		p := func(p float64, name string, f pgfault.Fault) pgfault.Rule {
			return pgfault.Probability(p, seed+uint64(i), pgfault.Named(name, f))
		}
		way.SetRules(
			p(0.03, "cut before commit", pgfault.LostBeforeCommit()), p(0.03, "cut after commit", pgfault.CommittedAnswerLost()),
			p(0.03, "refused commit", pgfault.CommitSerializationFailure()), p(0.003, "cut", pgfault.On(pgfault.Statement, pgfault.ConnectionLost())),
		)
	}
}

func (e *estate) calm() {
	for _, way := range e.ways {
		way.SetRules()
	}
}

// furnish makes two projects. One of them shares a pool with the other.
func (e *estate) furnish(t *testing.T) {
	t.Helper()
	c := e.sites[0]
	c.newProject(t, project)
	c.newProject(t, "north")
	c.pool(t, "p", obj{"cidr": "10.0.0.0/16"})
	c.created(t, c.do(t, http.MethodPost, in("north", "pools"), named("market", obj{"cidr": "172.16.0.0/16", "visibility": "shared"})))
	c.created(t, c.do(t, http.MethodPut, in("north", "pools", "market", "grants", project), nil))
	c.class(t, "nets", obj{"ipFamily": "IPv4", "defaultPrefixLength": 28, "poolPer": []string{"project", "net"}, "poolPrefixLength": 24, "emptyPoolTTL": "0s", "reuseAfter": "0s"})
	c.poolOf(t, project, "nets", "10.64.0.0/12", "nets")
}

// writer changes objects of each kind on both servers. It ignores refusals and missing responses.
type writer struct {
	*estate

	number    int
	dice      *rand.Rand
	consumers int
	retained  []client.IPClaim

	mu   *sync.Mutex
	done map[string]int // successes, by operation
}

func (w *writer) run(ctx context.Context, t testing.TB) {
	t.Helper()
	acts := w.acts()
	for ctx.Err() == nil {
		if !acts[w.dice.IntN(len(acts))](ctx, t) {
			pause(ctx)
		}
	}
}

// try sends a request. It returns false if no server responds.
func (w *writer) try(ctx context.Context, t testing.TB, method, path string, body any, options ...option) (a answer, there bool) {
	t.Helper()
	c := w.sites[w.dice.IntN(len(w.sites))]
	a, err := c.try(ctx, t, method, path, body, options...)
	if a.ok() {
		w.mu.Lock()
		w.done[contract().operation(method, a.path).id]++
		w.mu.Unlock()
	}
	return a, err == nil && a.status < http.StatusInternalServerError
}

func (w *writer) send(ctx context.Context, t testing.TB, method, path string, body any, options ...option) bool {
	t.Helper()
	_, there := w.try(ctx, t, method, path, body, options...)
	return there
}

// some returns one of a few names. All writers use the same names.
func (w *writer) some(prefix string, of int) string { return fmt.Sprint(prefix, w.dice.IntN(of)) }

// user returns one of the latest consumers of this writer. Most consumers end soon, and an ended consumer never comes back.
func (w *writer) user() obj {
	w.consumers++
	n := w.consumers / 8
	realm := "default"
	if n%4 == 0 {
		realm = "two"
	}
	return obj{"uid": fmt.Sprintf("vm-%d-%d", w.number, n), "realm": realm}
}

func labels(value int) obj { return obj{"labels": obj{"turn": fmt.Sprint(value)}} }

// claim returns the body of a claim. The claim is from a pool, from another project's pool, or by class in a scope.
func (w *writer) claim(name string) obj {
	spec := from("p", 28)
	switch w.dice.IntN(4) {
	case 0:
		spec["poolRef"] = obj{"project": "north", "name": "market"}
	case 1:
		spec = obj{"className": "nets", "scope": obj{"net": w.some("n", 3)}}
	}
	switch w.dice.IntN(4) {
	case 0:
		spec["reclaimPolicy"] = "Retain"
	case 1, 2:
		spec["maxConsumers"], spec["whenUnused"], spec["consumers"] = 8, "Delete", []obj{w.user()}
	}
	return named(name, spec)
}

func (w *writer) acts() []func(ctx context.Context, t testing.TB) bool {
	act := func(method string, path func() string, body func() any, options ...option) func(context.Context, testing.TB) bool {
		return func(ctx context.Context, t testing.TB) bool {
			t.Helper()
			return w.send(ctx, t, method, path(), body(), options...)
		}
	}
	nothing := func() any { return nil }
	turn := func() any { return obj{"metadata": labels(w.dice.IntN(1000))} }
	claim := func() string { return at("claims", w.some("c", 200)) }
	pool := func() string { return at("pools", w.some("s", 4)) }
	class := func() string { return at("classes", w.some("k", 3)) }
	attachment := func() string {
		u := w.user()
		return fmt.Sprintf("%s/consumers/%s?realm=%s", claim(), u["uid"], u["realm"])
	}
	consumer := func() string {
		u := w.user()
		return at("realms", u["realm"].(string), "consumers", u["uid"].(string))
	}
	return []func(context.Context, testing.TB) bool{
		w.makeClaim, w.makeClaim, w.makeClaim, w.makeBatch,
		act(http.MethodPatch, claim, turn, ifMatch("*")), act(http.MethodPatch, claim, turn, ifMatch("*")),
		act(http.MethodDelete, claim, nothing), w.releaseMany, w.giveBack,
		act(http.MethodPut, attachment, func() any { return obj{"ttlSeconds": 10} }), act(http.MethodDelete, attachment, nothing),
		act(http.MethodPut, consumer, func() any { return obj{"spec": obj{"name": w.some("web", 9)}} }), act(http.MethodDelete, consumer, nothing),
		act(http.MethodPost, func() string { return at("consumer-renewals") }, func() any { return obj{"consumers": []any{w.user()["uid"]}} }),
		act(http.MethodPost, func() string { return at("pools") }, func() any { return named(w.some("s", 4), child("p", 26)) }),
		act(http.MethodPatch, pool, turn, ifMatch("*")), act(http.MethodDelete, pool, nothing),
		act(http.MethodPatch, func() string { return in("north", "pools", "market") }, turn, ifMatch("*")),
		act(http.MethodPost, func() string { return at("classes") }, func() any { return named(w.some("k", 3), obj{"ipFamily": "IPv4"}) }),
		act(http.MethodPatch, class, func() any {
			return obj{"metadata": labels(w.dice.IntN(9)), "spec": obj{"description": w.some("d", 99)}}
		}, ifMatch("*")),
		act(http.MethodDelete, class, nothing),
		act(http.MethodPut, func() string { return at("quotas", w.some("q", 2)) }, func() any {
			return obj{"spec": obj{"limits": obj{"claims": 1000 + w.dice.IntN(9)}}}
		}),
		act(http.MethodDelete, func() string { return at("quotas", w.some("q", 2)) }, nothing),
	}
}

func (w *writer) makeClaim(ctx context.Context, t testing.TB) bool {
	t.Helper()
	a, there := w.try(ctx, t, http.MethodPost, at("claims"), w.claim(w.some("c", 200)))
	if a.ok() {
		if made := decode[client.IPClaim](t, a); made.Status.ReclaimPolicy == "Retain" {
			w.retained = append(w.retained, made)
		}
	}
	return there
}

func (w *writer) makeBatch(ctx context.Context, t testing.TB) bool {
	t.Helper()
	var claims []obj
	for i := range 3 {
		one := w.claim("")
		one["metadata"] = obj{"name": fmt.Sprintf("b%d-%d", w.dice.IntN(8), i)}
		claims = append(claims, one)
	}
	return w.send(ctx, t, http.MethodPost, at("claim-batches"), obj{"claims": claims})
}

func (w *writer) releaseMany(ctx context.Context, t testing.TB) bool {
	t.Helper()
	names := []string{fmt.Sprintf("b%d-0", w.dice.IntN(8)), fmt.Sprintf("b%d-1", w.dice.IntN(8)), w.some("c", 200)}
	body := obj{"select": obj{"names": names}, "createdBefore": time.Now().UTC().Format(time.RFC3339)}
	return w.send(ctx, t, http.MethodPost, at("claim-releases"), body)
}

// giveBack releases a claim and then its retained allocation, either as the holder or as the owner of the pool.
func (w *writer) giveBack(ctx context.Context, t testing.TB) bool {
	t.Helper()
	if len(w.retained) == 0 {
		return true
	}
	claim := w.retained[0]
	w.retained = w.retained[1:]
	by := []string{project, claim.Status.PoolRef.Project}[w.dice.IntN(2)]
	return w.send(ctx, t, http.MethodDelete, at("claims", claim.Metadata.Name), nil) &&
		w.send(ctx, t, http.MethodDelete, in(by, "allocations", claim.Status.AllocationRef.Name), nil)
}
