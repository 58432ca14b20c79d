package chaos

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/lab/skew"
)

// began is the time at which the run in these tests begins.
var began = time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)

func minute(n float64) time.Time { return began.Add(time.Duration(n * float64(time.Minute))) }

// cooling returns a run with a pool in which blocks cool down for fifteen minutes.
func cooling(t *testing.T) *scene {
	t.Helper()
	s := newScene(t)
	s.plan.Pools = append(s.plan.Pools, pool("cool", "10.1.0.0/22", 32, "FirstFit").reusedAfter(longer))
	return s
}

// took returns an entry that got its block at minute told and was released at minute givenUp. If givenUp is 0, it was not released.
func (s *scene) took(name, block string, told, givenUp float64) {
	e := &entry{
		op: &Op{Pool: "cool", Names: []string{name}}, name: name, uid: "uid of " + name, state: isHeld, block: netip.MustParsePrefix(block),
		when: moments{asked: minute(told - 0.1), told: minute(told)},
	}
	if givenUp > 0 {
		e.state, e.when.givenUp, e.when.gone = isReleased, minute(givenUp), minute(givenUp+0.1)
	}
	s.ledger.entries[name] = e
}

func (s *scene) wrong() []string { return Result{Violations: s.ledger.wrong}.Checks() }

func TestBlockReusedBeforeItsCoolDownIsAViolation(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		block string
		told  float64
		early bool
	}{
		"ItsTimeIsOver":          {"10.1.0.4/32", 17, false},
		"TooEarly":               {"10.1.0.4/32", 16.9, true},
		"TooEarlyInALargerBlock": {"10.1.0.4/30", 16.9, true},
		"AnotherBlock":           {"10.1.0.5/32", 3, false},
		"HeldBeforeAndGivenUp":   {"10.1.0.4/32", 0.5, false},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := cooling(t)
			s.took("one", "10.1.0.4/32", 1, 2)
			givenUp := 0.0
			if c.told < 1 {
				givenUp = 0.6
				s.ledger.entries["one"].when.told, s.ledger.entries["one"].when.givenUp = minute(16), minute(17)
			}
			s.took("two", c.block, c.told, givenUp)
			s.cooled()
			require.Equal(t, c.early, len(s.wrong()) > 0, "%v", s.ledger.wrong)
			for _, v := range s.ledger.wrong {
				require.Equal(t, "cooled", v.Check)
			}
		})
	}
}

func held(name string, since, until float64) (h hold) {
	h.AllocatedCIDR, h.PoolRef.Name, h.ClaimRef.Name, h.Since = netip.MustParsePrefix("10.1.0.4/32"), "cool", name, minute(since)
	if until > 0 {
		h.Until = minute(until)
	}
	return h
}

func TestAddressHistoryOutOfOrderIsAViolation(t *testing.T) {
	t.Parallel()
	ahead := time.Since(began).Minutes() + 20
	for title, c := range map[string]struct {
		holds []hold
		wrong bool
	}{
		"OneAfterTheOther":   {[]hold{held("c", 4, 0), held("b", 2, 3), held("a", 1, 2)}, false},
		"InTheFuture":        {[]hold{held("c", ahead, 0)}, true},
		"OfNoLength":         {[]hold{held("c", 4, 0), held("b", 2, 2)}, true},
		"TheOldestFirst":     {[]hold{held("a", 1, 2), held("b", 2, 3)}, true},
		"TheCurrentHoldLast": {[]hold{held("b", 2, 3), held("c", 4, 0)}, true},
		"TwoAtOnce":          {[]hold{held("b", 2, 4), held("a", 1, 3)}, true},
		"TwoHoldIt":          {[]hold{held("b", 2, 0), held("a", 1, 0)}, true},
		"InASecondPoolToo":   {[]hold{held("b", 2, 0), func() hold { h := held("a", 1, 0); h.PoolRef.Name = "other"; return h }()}, false},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := cooling(t)
			s.inOrder(netip.MustParseAddr("10.1.0.4"), c.holds)
			require.Equal(t, c.wrong, len(s.wrong()) > 0, "%v", s.ledger.wrong)
		})
	}
}

func TestAddressHistoryThatDiffersFromTheClientsIsAViolation(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		holds []hold
		wrong bool
	}{
		"Equal":                 {[]hold{held("one", 1, 2)}, false},
		"BeganBeforeTheRequest": {[]hold{held("one", 0.5, 2)}, true},
		"BeganAfterTheResponse": {[]hold{held("one", 1.5, 2)}, true},
		"EndedBeforeTheRelease": {[]hold{held("one", 1, 1.5)}, true},
		"EndedAfterTheRelease":  {[]hold{held("one", 1, 3)}, true},
		"Missing":               {nil, true},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := cooling(t)
			s.took("one", "10.1.0.4/32", 1, 2)
			s.asSeen(netip.MustParseAddr("10.1.0.4"), c.holds, []entry{*s.ledger.entries["one"]})
			require.Equal(t, c.wrong, len(s.wrong()) > 0, "%v", s.ledger.wrong)
		})
	}
}

func TestAuditTrailThatDiffersFromTheClientsIsAViolation(t *testing.T) {
	t.Parallel()
	const made, ended = `{"at":"2026-03-02T09:31:00Z","operation":"createClaim","resource":{"kind":"IPClaim","name":"one"}}`,
		`{"at":"2026-03-02T09:32:00Z","operation":"deleteClaim","resource":{"kind":"IPClaim","name":"one"}}`
	for title, c := range map[string]struct {
		events string
		wrong  bool
	}{
		"Complete":            {ended + "," + made, false},
		"NoRelease":           {made, true},
		"TheOldestComesFirst": {made + "," + ended, true},
		"CreatedTooEarly":     {ended + "," + `{"at":"2026-03-02T09:11:00Z","operation":"createClaim","resource":{"name":"one"}}`, true},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(`{"items":[` + c.events + `]}`))
			}))
			t.Cleanup(server.Close)
			s := against(t, nil)
			addr := server.Listener.Addr().String()
			for _, r := range s.regions {
				r.addr.Store(&addr)
			}
			s.took("one", "10.1.0.4/32", 1, 2)
			res := Result{Tally: map[string]int{}}
			require.NoError(t, s.trail(t.Context(), []entry{*s.ledger.entries["one"]}, &res))
			require.Equal(t, c.wrong, len(s.wrong()) > 0, "%v", s.ledger.wrong)
		})
	}
}

func TestPausedServerMayDelayRequestsOnlyBriefly(t *testing.T) {
	t.Parallel()
	ask := func(pool string, server int, from, to float64, served bool) asked {
		return asked{"c1-1", pool, server, minute(from / 60), minute(to / 60), served}
	}
	for title, c := range map[string]struct {
		all   []asked
		wrong bool
	}{
		"ServedAtOnce":                  {[]asked{ask("p", 1, 10, 11, true)}, false},
		"ServedWithinTheLimit":          {[]asked{ask("p", 1, 9, 16, true)}, false},
		"ServedAfterTheLimit":           {[]asked{ask("p", 1, 9, 16.1, true)}, true},
		"RefusedAfterTheLimit":          {[]asked{ask("p", 1, 9, 16.1, false)}, true},
		"LateWhileThePoolServesOthers":  {[]asked{ask("p", 1, 9, 16.1, true), ask("p", 2, 9, 13, true)}, false},
		"LateWhileThePoolRefusesOthers": {[]asked{ask("p", 1, 9, 16.1, true), ask("p", 2, 9, 13, false)}, true},
		"LateWhileAnotherPoolServes":    {[]asked{ask("p", 1, 9, 16.1, true), ask("q", 2, 9, 13, true)}, true},
		"LateAtThePausedServer":         {[]asked{ask("p", 0, 9, 20, true)}, false},
		"LateAfterThePause":             {[]asked{ask("p", 1, 14, 30, true)}, false},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.ledger.pauses, s.ledger.asked = []paused{{0, minute(10.0 / 60), minute(17.0 / 60)}}, c.all
			s.heldUp()
			require.Equal(t, c.wrong, len(s.wrong()) > 0, "%v", s.ledger.wrong)
		})
	}
}

func TestKeyRefusedEarlyOrAcceptedLateIsAViolation(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		good   time.Duration
		status int
		wrong  bool
	}{
		"Good":                   {time.Hour, 200, false},
		"RefusedTooEarly":        {time.Hour, 401, true},
		"Expired":                {-time.Hour, 401, false},
		"AcceptedAfterItsExpiry": {-time.Hour, 200, true},
		"AnotherStatus":          {time.Hour, 503, true},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := against(t, map[string][]reply{"GET /v1/whoami": {{c.status, "{}"}}})
			s.keys = []key{{"token", time.Now().Add(c.good)}}
			s.tryKeys(t.Context())
			require.Equal(t, c.wrong, len(s.wrong()) > 0, "%v", s.ledger.wrong)
		})
	}
}

func TestSeedsMoveOneClockAheadBehindOrInSteps(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{}
	for seed := range uint64(30) {
		p := NewPlan(Ordinary(), seed)
		steps := 0
		for _, e := range p.Events {
			if e.Disaster == Step {
				require.Equal(t, p.Off.Region, e.Region)
				steps++
			}
		}
		switch {
		case steps > 0:
			kinds["steps"]++
		case p.Off.Ahead > 0:
			kinds["ahead"]++
		case p.Off.Ahead < 0:
			kinds["behind"]++
		}
	}
	require.Len(t, kinds, 3)
	require.False(t, NewPlan(Paused(), 1).isOff(0), "clocks are right in a mix that does not say otherwise")
}

func TestServerWithAnUnplannedClockIsDetected(t *testing.T) {
	t.Parallel()
	s := against(t, nil)
	require.NoError(t, s.tells(t.Context()))
	s.regions[1].clock = newClock(t, 20*time.Minute)
	require.ErrorContains(t, s.tells(t.Context()), "server 1 says")
}

func TestDatabaseURLHasBothHosts(t *testing.T) {
	t.Parallel()
	one, err := several([]string{"postgres://me@127.0.0.1:1/db?sslmode=disable"})
	require.NoError(t, err)
	require.Equal(t, "postgres://me@127.0.0.1:1/db?sslmode=disable", one)
	both, err := several([]string{"postgres://me@127.0.0.1:1/db?sslmode=disable", "postgres://me@127.0.0.1:2/db?sslmode=disable"})
	require.NoError(t, err)
	require.Equal(t, "postgres://me@127.0.0.1:1,127.0.0.1:2/db?sslmode=disable&target_session_attrs=primary", both)
}

func TestSomeSeedsCrashThePrimaryBeforeTheFailover(t *testing.T) {
	t.Parallel()
	seen := map[Disaster]int{}
	for seed := uint64(3); seed < 40; seed += uint64(len(Mixes())) {
		for _, e := range NewPlan(FailedOver(), seed).Events {
			seen[e.Disaster]++
		}
	}
	require.Positive(t, seen[FailOver])
	require.Positive(t, seen[CrashAndFailOver])
}

func newClock(t *testing.T, ahead time.Duration) *skew.Clock {
	t.Helper()
	c, err := skew.NewClock(filepath.Join(t.TempDir(), "clock"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	c.Set(ahead)
	return c
}
