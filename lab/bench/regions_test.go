package bench

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
	"github.com/carve-ipam/carve/lab/latency"
)

// The regions of the benchmark, and the distance between them. As on CockroachDB, reads of GLOBAL tables cost no distance. But writes to GLOBAL
// tables would also wait for clocks, and the benchmark does not simulate that.
const (
	home      = "local"
	there     = "carve-east"
	roundTrip = 90 * time.Millisecond
	cutOff    = time.Hour // a request that waits for the other region takes longer than the benchmark
)

// BenchmarkRegions claims and releases in a region that is 90 ms away from the home region of its pools. It compares this in turn with a pool of one
// region, through the same kind of proxy. It reports the 95th percentile of claims in milliseconds, and the ratio to the pool of one region.
func BenchmarkRegions(b *testing.B) {
	w := newWorld(b)
	near := []*arm{
		{name: "one-region", in: home, project: "one", pool: "alone"},
		{name: "one-region-again", in: home, project: "one", pool: "alone"}, // a second measurement of the same case, which shows the noise
		{name: "served", in: there, project: "east", pool: "served"},
		{name: "served-generated", in: there, project: "both", pool: "served", generated: true},
	}
	far := []*arm{
		{name: "served-named-in-two-regions", in: there, project: "both", pool: "served"},
		{name: "not-served", in: there, project: "both", pool: "alone"},
	}
	away := &arm{name: "cut-off", in: there, project: "east", pool: "served"}
	for _, a := range slices.Concat(near, far, []*arm{away}) {
		w.once(b, a) // makes loans and fills caches, such as the list of regions with claims of the project
	}
	for _, a := range slices.Concat(near, far, []*arm{away}) {
		a.took = nil
	}
	b.ResetTimer()
	for range b.N {
		for i := range 400 {
			for _, a := range near {
				w.once(b, a)
			}
			if i%10 == 0 {
				for _, a := range far {
					w.once(b, a)
				}
			}
		}
		w.far.Set(map[string]time.Duration{home: cutOff})
		for range 400 {
			w.once(b, away)
		}
		w.far.Set(map[string]time.Duration{home: roundTrip})
	}
	b.StopTimer()
	b.ReportMetric(0, "ns/op") // this figure has no meaning here
	base := p95(near[0].took)
	b.ReportMetric(latency.Milliseconds(base), "one-region-p95-ms")
	for _, a := range slices.Concat(near[1:], []*arm{away}) {
		b.ReportMetric(float64(p95(a.took))/float64(base), a.name+"-ratio")
	}
	for _, a := range far {
		b.ReportMetric(latency.Milliseconds(p95(a.took)), a.name+"-p95-ms")
	}
	report, err := audit.Run(b.Context(), w.dsn)
	require.NoError(b, err)
	require.Empty(b, report.Findings)
}

// arm is one measured way to claim.
type arm struct {
	name, in, project, pool string
	generated               bool
	took                    []time.Duration
}

type world struct {
	ctx context.Context
	dsn string
	in  map[string]*alloc.Service
	far *pgfault.Distances // distances of the region that is not the home region
}

func newWorld(b *testing.B) *world {
	b.Helper()
	w := &world{dsn: dbtest.New(b), in: map[string]*alloc.Service{}}
	w.ctx = tenancy.WithPrincipal(context.Background(), tenancy.Principal{Subject: "bench", Roles: map[string]tenancy.Role{ipam.PlatformProject: tenancy.Admin}})
	require.NoError(b, schema.Migrate(w.ctx, w.dsn, schema.MigrateOptions{Regions: []string{home, there}}))
	for r, other := range map[string]string{home: there, there: home} {
		far := pgfault.NewDistances(map[string]time.Duration{other: roundTrip})
		proxy, err := pgfault.Start(w.ctx, w.dsn, far.Latency(), pgfault.When(goesEverywhere, pgfault.Latency(roundTrip)))
		require.NoError(b, err)
		b.Cleanup(proxy.Close)
		store, err := crdb.Open(w.ctx, proxy.DSN(), crdb.Options{Region: r, MaxConnections: 16})
		require.NoError(b, err)
		b.Cleanup(store.Close)
		w.in[r] = alloc.New(store, alloc.Options{Region: r, Runway: time.Hour})
		if r == there {
			w.far = far
		}
	}
	require.NoError(b, w.in[home].EnsurePlatform(w.ctx))
	for _, p := range []string{"one", "east", "both"} {
		_, err := w.in[home].CreateProject(w.ctx, ipam.Project{Metadata: ipam.Metadata{Name: p}}, usecase.Request{})
		require.NoError(b, err)
	}
	w.pool(b, "alone", "10.0.0.0/12")
	w.pool(b, "served", "10.16.0.0/12", home, there)
	for _, r := range []string{home, there} { // the project "both" has a claim in each region
		_, err := w.in[r].CreateClaim(w.ctx, "both", w.claim(&arm{pool: "served"}, "in-"+r), usecase.Request{})
		require.NoError(b, err)
	}
	return w
}

// goesEverywhere matches the statement that searches for a new name in the other regions of its project. The statement finds these regions itself.
// The server sends it only if there are such regions.
func goesEverywhere(e pgfault.Event) bool {
	return strings.Contains(strings.ToLower(e.SQL), "c.name = k.name")
}

func (w *world) pool(b *testing.B, name, cidr string, regions ...string) {
	b.Helper()
	_, err := w.in[home].CreatePool(w.ctx, ipam.PlatformProject, ipam.Pool{
		Metadata: ipam.Metadata{Name: name},
		Spec: ipam.PoolSpec{
			CIDR: netip.MustParsePrefix(cidr), Visibility: ipam.VisibilityShared, Allocation: ipam.Allocating{Strategy: ipam.BestFit}, Regions: regions,
		},
	}, usecase.Request{})
	require.NoError(b, err)
	_, err = w.in[home].PutPoolGrant(w.ctx, ipam.PlatformProject, name, ipam.Everybody, usecase.Request{})
	require.NoError(b, err)
}

func (w *world) claim(a *arm, name string) ipam.Claim {
	bits := 32
	return ipam.Claim{Metadata: ipam.Metadata{Name: name}, Spec: ipam.ClaimSpec{PoolRef: ipam.Ref{Project: ipam.PlatformProject, Name: a.pool}, PrefixLength: &bits}}
}

// once makes and releases one claim. It records the duration of the claim.
func (w *world) once(b *testing.B, a *arm) {
	b.Helper()
	c := w.claim(a, ipam.NewID().String())
	if a.generated {
		c.GeneratedFrom = "c-"
		c.Rename()
	}
	begun := time.Now()
	made, err := w.in[a.in].CreateClaim(w.ctx, a.project, c, usecase.Request{})
	a.took = append(a.took, time.Since(begun))
	require.NoError(b, err)
	require.NoError(b, w.in[a.in].DeleteClaim(w.ctx, a.project, made.Value.Name, usecase.Request{}))
}
