package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOperatorsMemorySettingsOverrideTheDefault(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]map[string]string{"GOGC": {"GOGC": "50"}, "GOMEMLIMIT": {"GOMEMLIMIT": "1GiB"}} {
		require.Nil(t, newFloor(func(name string) string { return env[name] }), name)
	}
	require.Len(t, newFloor(func(string) string { return "" }), heapFloor)
}
