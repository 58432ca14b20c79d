package e2e

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Three servers share one database. Two of them are killed and restarted while clients claim through all of them.
func TestServersAreKilledWhileClientsFillAPool(t *testing.T) {
	t.Parallel()
	const servers, blocks = 3, 2048
	binary, dsn := serverBinary(t), database(t)
	type site struct {
		*caller
		process *process
		down    sync.RWMutex // held for writing while the server is down
	}
	start := func() *process {
		return startProcess(t, binary, nil, "--database-url="+dsn, "--max-connections=8", "--request-timeout=60s")
	}
	sites := make([]*site, servers)
	for i := range sites {
		p := start()
		sites[i] = &site{caller: newCaller(p.Addr()), process: p}
	}
	first := sites[0].caller
	first.created(t, first.do(t, "POST", "/v1/projects", obj{"metadata": obj{"name": project}}))
	first.pool(t, "p", obj{"cidr": "10.0.0.0/21"})

	l := newLedger(blocks + 1)
	var wg sync.WaitGroup
	for i := range clients {
		s := sites[i%servers]
		wg.Go(func() {
			l.hoard(t.Context(), t, s.caller, fmt.Sprintf("c%d", i), from("p", 32), func() {
				s.down.RLock() // blocks until the server runs again
				defer s.down.RUnlock()
			})
		})
	}
	for _, s := range sites[1:] {
		l.await(t.Context(), blocks/4)
		s.down.Lock()
		s.process.Kill()
		s.process = start()
		s.follow(s.process.Addr())
		s.down.Unlock()
	}
	wg.Wait()
	t.Logf("%d requests had no answer", l.unknown)
	require.NotZero(t, l.unknown, "the kills hit something")
	for _, s := range sites {
		l.holds(t, s.caller, blocks)
		require.Zero(t, s.available(t, "p").Sign())
		require.NoError(t, s.process.Stop())
	}
}
