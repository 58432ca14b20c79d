package app

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// If the port is in use, the server must not create a database before it fails.
func TestPortInUseIsReportedBeforeADatabaseIsCreated(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, taken.Close()) })
	for flag, says := range map[string]string{"--listen=": "cannot listen on ", "--admin-listen=": "(--admin-listen)"} {
		data := filepath.Join(t.TempDir(), "data")
		config, _, err := ParseConfig([]string{"--auth=dev", "--listen=127.0.0.1:0", "--data-dir=" + data, flag + taken.Addr().String()}, nil)
		require.NoError(t, err)
		_, err = Start(t.Context(), config, t.Output())
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, taken.Addr().String())
		require.NoDirExists(t, data)
	}
}
