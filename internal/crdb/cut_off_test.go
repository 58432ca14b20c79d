package crdb_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// A server loses its connection to the database in the middle of a claim, while it has the lock of the pool. A claim on another server still succeeds
// within the default deadline of a request.
func TestPartitionedServerDoesNotBlockAPool(t *testing.T) {
	t.Parallel()
	st := newStormOn(t, "")
	st.direct.createPool(t, rootPool("pool", "10.0.0.0/24"))
	st.proxy.SetRules(pgfault.Once(pgfault.When(func(e pgfault.Event) bool { return e.InTx && e.Writes }, pgfault.PartitionAfter())))
	result := make(chan error, 1)
	ctx := admin(t)
	go func() {
		result <- errOf(st.svc.CreateClaim(ctx, project, claimOf("cut-off", project, "pool", 32), usecase.Request{}))
	}()
	require.NoError(t, st.proxy.AwaitInjected(admin(t), "PartitionAfter", 1))

	const requestTimeout = 10 * time.Second
	idle, err := time.ParseDuration(crdb.SessionSettings()["idle_in_transaction_session_timeout"])
	require.NoError(t, err)
	require.Less(t, idle, requestTimeout/2, "what it waits for ends early in that time")
	_, err = st.direct.svc.CreateClaim(admin(t), project, claimOf("other", project, "pool", 32), usecase.Request{})
	require.NoError(t, err)
	st.proxy.Heal()
	require.NoError(t, <-result, "it goes on when the network is back")
	_, err = st.direct.svc.GetClaim(admin(t), project, "cut-off", usecase.Reading{})
	require.NoError(t, err)
}
