package claims

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

func TestClaimRefusedAgainAfterItsRemovalWaitsAtTheEnd(t *testing.T) {
	first, second := types.NamespacedName{Name: "first"}, types.NamespacedName{Name: "second"}
	var w waiting
	w.add(first)
	w.add(second)
	w.remove(first)
	w.add(first)
	require.Equal(t, []types.NamespacedName{second}, w.take(1))
	require.Equal(t, []types.NamespacedName{first}, w.take(2))
	require.Empty(t, w.take(1))
}

// TestRemovedClaimLeavesNoMemory checks a pool in which Carve releases no block, so that take is never called.
func TestRemovedClaimLeavesNoMemory(t *testing.T) {
	name := types.NamespacedName{Namespace: "web", Name: "eth0"}
	var w waiting
	w.add(name)
	w.remove(name)
	require.Zero(t, w.names.Len())
	require.Empty(t, w.at)
}
