package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOperatorsMemorySettingsOverrideTheDefault(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]map[string]string{"GOGC": {"GOGC": "50"}, "GOMEMLIMIT": {"GOMEMLIMIT": "1GiB"}} {
		require.Nil(t, newBallast(func(name string) string { return env[name] }), name)
	}
	require.Len(t, newBallast(func(string) string { return "" }), ballastSize)
}
