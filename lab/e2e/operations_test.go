package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Each operation of the contract must work as in its examples and refuse unknown input. The test covers a new operation automatically. It fails if an
// example cannot be sent unchanged.
func TestEveryOperation(t *testing.T) {
	t.Parallel()
	s := setupStage(t)
	for _, each := range s.specimens(t) {
		t.Run(each.String(), func(t *testing.T) {
			if each.op.RequestBody != nil {
				s.refused(t, each.sendBody(t, s.caller, []byte("{")), "invalid_argument")
			}
			s.refused(t, each.send(t, s.caller, query("unknown=1")), "invalid_argument", "query:unknown")
			a := each.send(t, s.caller)
			require.True(t, a.ok(), "%d %s", a.status, a.body)
		})
	}
	for _, op := range contract().operations {
		require.NotZero(t, s.seen.done[op.id], "%s was never carried out", op.id)
		require.NotZero(t, s.seen.refused[op.id], "%s was never refused", op.id)
	}
}
