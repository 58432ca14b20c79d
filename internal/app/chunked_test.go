package app

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A client may keep connections alive and send chunked bodies. The server closes each connection after the response, and the client must succeed by
// opening a new one.
func TestClientsWithChunkedBodiesAreServedOnNewConnections(t *testing.T) {
	t.Parallel()
	a, token := launchBounded(t, impatient)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for i := range 20 {
		body := io.MultiReader(strings.NewReader(fmt.Sprintf(`{"metadata":{"name":"chunk-%d"}}`, i))) // a reader without a known length
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+a.Addr()+"/v1/projects", body)
		require.NoError(t, err)
		require.EqualValues(t, 0, r.ContentLength, "not known")
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		w, err := client.Do(r)
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, w.StatusCode)
		require.True(t, w.Close)
		require.NoError(t, w.Body.Close())
		require.Equal(t, http.StatusOK, get(t, client, "http://"+a.Addr()+"/v1/whoami", token).status)
	}
}
