package usecase

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

// If stop is called after the next Watch of the project, it must not remove that Watch.
func TestLateStopKeepsTheNextWatch(t *testing.T) {
	t.Parallel()
	var w Notifier
	project, woken := ipam.NewID(), 0
	change := func() {
		did := w.begin()
		did.note([]ipam.Event{{ProjectID: project}})
		w.end(did)
	}
	stopFirst := w.Watch(project, func() { t.Error("it has stopped") })
	stopNext := w.Watch(project, func() { woken++ })
	stopFirst()
	change()
	require.Equal(t, 1, woken)
	stopNext()
	change()
	require.Equal(t, 1, woken)
}
