package logspike

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m, dbtest.Config{}) }

// world is a database with pools.
type world struct {
	*testing.T
	db      *pgxpool.Pool
	project ID
	pools   []ID
	quota   ID
	over    atomic.Int64 // requests that the quota refused
}

func newWorld(t *testing.T, pools ...string) *world {
	t.Helper()
	db, err := Open(t.Context(), dbtest.New(t), 30)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	require.NoError(t, Create(t.Context(), db))
	w := &world{T: t, db: db, project: uuid.New()}
	for _, cidr := range pools {
		w.pools = append(w.pools, uuid.New())
		require.NoError(t, CreatePool(t.Context(), db, w.pools[len(w.pools)-1], netip.MustParsePrefix(cidr)))
	}
	return w
}

func (w *world) engine(o Options) *Engine {
	e := New(w.db, o)
	w.Cleanup(e.Close)
	return e
}

func (w *world) request(claims ...Claim) Request {
	return Request{Project: w.project, Pool: w.pools[0], Claims: claims}
}

// quotaOf creates a quota that all requests of a storm count in.
func (w *world) quotaOf(limit int64) {
	w.Helper()
	w.quota = uuid.New()
	require.NoError(w, CreateQuota(w.Context(), w.db, w.quota, limit))
}

// audit checks each pool and returns its holds by name.
func (w *world) audit() map[string]Hold {
	w.Helper()
	all := map[string]Hold{}
	for _, pool := range w.pools {
		holds, err := Audit(w.Context(), w.db, pool)
		require.NoError(w, err)
		for _, h := range holds {
			require.NotContains(w, all, h.Name)
			all[h.Name] = h
		}
	}
	if w.quota != (ID{}) {
		m := meter{id: w.quota}
		_, err := m.load(w.Context(), &store{db: w.db})
		require.NoError(w, err)
		require.Equal(w, int64(len(all)), m.used, "the quota counts the holds")
		require.LessOrEqual(w, m.used, m.limit)
	}
	return all
}

func code(err error) Code {
	if r, is := errors.AsType[*Refusal](err); is {
		return r.Code
	}
	return ""
}

func TestClaimsAndReleases(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "10.0.0.0/24")
	e := w.engine(Options{Sweep: -1})
	made, err := e.Submit(t.Context(), w.request(Claim{Name: "a", Length: 26}))
	require.NoError(t, err)
	require.Equal(t, "10.0.0.0/26", made[0].Block.String())
	_, err = e.Submit(t.Context(), w.request(Claim{Name: "a", Length: 26}))
	require.Equal(t, NameTaken, code(err))
	_, err = e.Submit(t.Context(), w.request(Claim{Name: "b", Block: netip.MustParsePrefix("10.0.0.32/27")}))
	require.Equal(t, Taken, code(err))
	made, err = e.Submit(t.Context(), w.request(Claim{Name: "b", Block: netip.MustParsePrefix("10.0.0.128/25")}))
	require.NoError(t, err)
	require.Equal(t, int64(2), made[0].Seq)
	_, err = e.Submit(t.Context(), w.request(Claim{Name: "c", Length: 27}, Claim{Name: "d", Length: 26}))
	require.Equal(t, Full, code(err), "a batch is served as a whole or not at all")
	r, _ := errors.AsType[*Refusal](err)
	require.Equal(t, map[int]int64{27: 1}, r.Counts, "the figures are those without the rest of the batch")
	_, err = e.Submit(t.Context(), Request{Project: w.project, Release: "a"})
	require.NoError(t, err)
	_, err = e.Submit(t.Context(), Request{Project: w.project, Release: "a"})
	require.Equal(t, NotFound, code(err))
	made, err = e.Submit(t.Context(), w.request(Claim{Name: "a", Length: 26})) // the ended hold of this name is still there
	require.NoError(t, err)
	require.Equal(t, "10.0.0.0/26", made[0].Block.String())
	require.Len(t, w.audit(), 2)
	h, err := e.At(t.Context(), w.pools[0], netip.MustParseAddr("10.0.0.200"))
	require.NoError(t, err)
	require.Equal(t, "b", h.Name)
	_, err = e.At(t.Context(), w.pools[0], netip.MustParseAddr("10.0.0.100"))
	require.Equal(t, NotFound, code(err))
	named, err := e.ByName(t.Context(), w.project, "a", 10)
	require.NoError(t, err)
	require.Len(t, named, 1)
}

func TestRepeatedKeysGetTheFirstAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "10.0.0.0/24")
	e := w.engine(Options{Sweep: -1})
	r := w.request(Claim{Name: "a", Length: 32}, Claim{Name: "b", Length: 32})
	r.Key, r.Digest = "k", []byte{1}
	first, err := e.Submit(t.Context(), r)
	require.NoError(t, err)
	for _, when := range []string{"at once", "after the release", "after the sweep"} {
		again, err := e.Submit(t.Context(), r)
		require.NoError(t, err, when)
		require.Equal(t, first, again, when)
		other := r
		other.Digest = []byte{2}
		_, err = e.Submit(t.Context(), other)
		require.Equal(t, KeyReused, code(err), when)
		switch when {
		case "at once":
			for _, name := range []string{"a", "b"} {
				_, err := e.Submit(t.Context(), Request{Project: w.project, Release: name})
				require.NoError(t, err)
			}
		case "after the release":
			require.NoError(t, e.store.sweep(t.Context(), w.pools[0]))
		}
	}
	require.Empty(t, w.audit())
	var rows int
	require.NoError(t, w.db.QueryRow(t.Context(), "SELECT count(*) FROM entries WHERE kind IN (1, 2)").Scan(&rows))
	require.Zero(t, rows)
}

// client makes random requests and remembers what was acknowledged.
type client struct {
	id     int
	random *rand.Rand
	mine   []string
	gone   []string
	unsure map[string]error // the state is unknown, because of this error
}

// act makes one request. All clients use few keys, exact blocks and names, so that they meet.
func (c *client) act(ctx context.Context, w *world, e *Engine, n int) error {
	pool := w.pools[c.random.IntN(len(w.pools))]
	r := Request{Project: w.project, Pool: pool, Quota: w.quota}
	name := fmt.Sprintf("c%d-%d", c.id, n)
	switch k := c.random.IntN(10); {
	case k < 4 && len(c.mine) > 0:
		i := c.random.IntN(len(c.mine))
		r.Release = c.mine[i]
		c.mine = slices.Delete(c.mine, i, i+1)
		_, err := e.Submit(ctx, r)
		switch {
		case err == nil:
			c.gone = append(c.gone, r.Release)
		case code(err) == "":
			c.unsure[r.Release] = err
		default:
			return fmt.Errorf("release of %s: %w", r.Release, err)
		}
		return nil
	case k < 5:
		name = fmt.Sprintf("shared-%d", c.random.IntN(20))
		r.Claims = []Claim{{Name: name, Length: 32}}
	case k < 6:
		addr := netip.AddrFrom4([4]byte{10, byte(slices.Index(w.pools, pool)), 0, byte(c.random.IntN(256))})
		r.Claims = []Claim{{Name: name, Block: netip.PrefixFrom(addr, 32)}}
	case k < 7:
		for i := range 5 {
			r.Claims = append(r.Claims, Claim{Name: fmt.Sprintf("%s.%d", name, i), Length: 30 + c.random.IntN(3)})
		}
	default:
		r.Claims = []Claim{{Name: name, Length: 29 + c.random.IntN(4)}}
	}
	if c.random.IntN(2) == 0 {
		r.Key, r.Digest = fmt.Sprintf("c%d-%d", c.id, n), []byte(name)
	}
	holds, err := e.Submit(ctx, r)
	if code(err) == OverQuota {
		w.over.Add(1)
	}
	for _, claim := range r.Claims {
		switch {
		case err == nil:
			c.mine = append(c.mine, claim.Name)
		case code(err) == "":
			c.unsure[claim.Name] = err
		}
	}
	if err == nil && len(holds) != len(r.Claims) {
		return fmt.Errorf("%d of %d claims were answered", len(holds), len(r.Claims))
	}
	if err == nil && r.Key != "" && c.random.IntN(4) == 0 {
		again, err := e.Submit(ctx, r)
		for i := range again {
			again[i].Body = holds[i].Body
		}
		if err == nil && !slices.Equal(holds, again) {
			return fmt.Errorf("the repeated request got %v instead of %v", again, holds)
		}
		if code(err) != "" {
			return fmt.Errorf("the repeated request: %w", err)
		}
	}
	return nil
}

// storm lets 16 clients use several servers. It returns the names that must be held, and those whose state is unknown.
func storm(w *world, servers []*atomic.Pointer[Engine], requests int) (must map[string]bool, unsure map[string]error) {
	w.Helper()
	clients := make([]*client, 16)
	var wg sync.WaitGroup
	errs := make([]error, len(clients))
	for i := range clients {
		clients[i] = &client{id: i, random: rand.New(rand.NewPCG(uint64(i), 3)), unsure: map[string]error{}}
		wg.Go(func() {
			for n := range requests {
				if errs[i] = clients[i].act(w.Context(), w, servers[(i+n)%len(servers)].Load(), n); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	require.NoError(w, errors.Join(errs...))
	must, unsure = map[string]bool{}, map[string]error{}
	for _, c := range clients {
		maps.Copy(unsure, c.unsure)
	}
	for _, c := range clients {
		for _, name := range c.mine {
			must[name] = unsure[name] == nil
		}
	}
	return must, unsure
}

// verify compares the rows with the acknowledged requests. Audit compares them with the fold.
func verify(w *world, must map[string]bool, unsure map[string]error) {
	w.Helper()
	held := w.audit()
	for name, certain := range must {
		if certain {
			require.Contains(w, held, name, "it was acknowledged")
		}
	}
	for name := range held {
		_, known := must[name]
		require.True(w, known || unsure[name] != nil, "%s was never acknowledged, or it was released", name)
	}
}

func start(w *world, o Options, n int) (servers []*atomic.Pointer[Engine]) {
	for range n {
		p := &atomic.Pointer[Engine]{}
		p.Store(New(w.db, o))
		servers = append(servers, p)
		w.Cleanup(func() { p.Load().Close() })
	}
	return servers
}

func TestTwoServersShareAPoolAndAQuota(t *testing.T) {
	t.Parallel()
	for _, pools := range [][]string{{"10.0.0.0/22"}, {"10.0.0.0/23", "10.1.0.0/24", "10.2.0.0/24"}} {
		w := newWorld(t, pools...)
		w.quotaOf(100)
		servers := start(w, Options{SaveAfter: 50, PagesPerPool: 2, Sweep: 20 * time.Millisecond}, 2)
		must, unsure := storm(w, servers, 60)
		require.Empty(t, unsure)
		verify(w, must, unsure)
		require.Positive(t, w.over.Load())
	}
}

// Without the compare-and-set, the checks of the other tests must fail. Otherwise they would prove nothing.
func TestChecksFindAMissingCompareAndSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "10.0.0.0/22", "10.1.0.0/22")
	w.quotaOf(10)
	servers := []*Engine{w.engine(Options{Sweep: -1}), w.engine(Options{Sweep: -1})}
	claim := func(missing, name string, server, pool int) {
		servers[server].noFence = missing
		r := Request{Project: w.project, Pool: w.pools[pool], Claims: []Claim{{Name: name, Length: 32}}}
		if missing == "quota" {
			r.Quota = w.quota
		}
		_, err := servers[server].Submit(t.Context(), r)
		require.NoError(t, err)
	}
	for i, server := range []int{0, 1, 0} {
		claim("quota", fmt.Sprint(i), server, server) // the servers share only the quota
	}
	m := meter{id: w.quota}
	_, err := m.load(t.Context(), &store{db: w.db})
	require.NoError(t, err)
	require.Equal(t, int64(2), m.used, "of three claims")
	claim("pool", "3", 1, 0)
	claim("pool", "4", 0, 0)
	_, err = Audit(t.Context(), w.db, w.pools[0])
	require.Error(t, err)
}
