package auth

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

func TestDevelopmentModeServesOnlyLocalHosts(t *testing.T) {
	t.Parallel()
	for host, admitted := range map[string]bool{
		"127.0.0.1:8080": true, "localhost:8080": true, "LOCALHOST": true, "[::1]:8080": true, "127.9.9.9": true, "[::1]": true,
		"evil.example": false, "evil.example:8080": false, "127.0.0.1.evil.example:8080": false, "10.0.0.1:8080": false, "": false,
	} {
		r := httptest.NewRequest(http.MethodGet, "/v1/projects", nil)
		r.Host = host
		who, err := Dev{LocalOnly: true}.Authenticate(r)
		if admitted {
			require.NoError(t, err, host)
			require.True(t, who.PlatformAdmin())
			continue
		}
		require.True(t, ipam.IsCode(err, ipam.CodeUnauthenticated), host)
		require.Empty(t, who)
	}
}
