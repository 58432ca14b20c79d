package session

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
)

func TestWrappedErrorKeepsItsExitCode(t *testing.T) {
	t.Parallel()
	full := &Refusal{Problem: client.Problem{Code: client.ProblemCodePoolExhausted}, Status: 409}
	busy := &Refusal{Problem: client.Problem{Code: client.ProblemCodeContention}, Status: 503}
	require.Equal(t, exit.Conflict, exit.CodeOf(exit.About("pool a", full)))
	require.Equal(t, exit.Unavailable, exit.CodeOf(exit.About("pool a", keyed(busy, "k", Writing{}))))
	require.Equal(t, exit.Usage, exit.CodeOf(exit.Usagef("no")))
	require.Equal(t, exit.Failed, exit.CodeOf(os.ErrClosed))
	require.Equal(t, exit.OK, exit.CodeOf(nil))
}

func TestRateLimitPolicyIsPrintedReadably(t *testing.T) {
	t.Parallel()
	require.Equal(t, "200 writes in 2 s", policyText(`"writes";q=200;w=2`))
	require.Equal(t, "as it came", policyText("as it came"))
	require.Empty(t, policyText(""))
}
