package app

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A caller may request large pages and not read them. It then uses only its own share of the memory for responses.
func TestUnreadResponsesUseLimitedMemory(t *testing.T) {
	t.Parallel()
	a, token := launchBounded(t, bounds{header: enough, read: enough, idle: enough, slack: enough, grace: enough})
	platform := tenant{t: t, base: "http://" + a.Addr(), bearer: token}
	keys := map[string]string{}
	for _, project := range []string{"evil", "victim"} {
		platform.furnish(project)
		made := platform.must(http.StatusCreated, http.MethodPost, "/v1/projects/"+project+"/api-keys", map[string]any{"metadata": map[string]any{"name": "k"}, "spec": map[string]any{"role": "consumer"}})
		keys[project], _ = made["token"].(string)
	}
	text := map[string]any{}
	for i := range 7 {
		text[fmt.Sprint("k", i)] = strings.Repeat("x", 4096)
	}
	for range 2 {
		var batch []any
		for range 25 {
			batch = append(batch, map[string]any{"metadata": map[string]any{"generateName": "c-", "annotations": text}, "spec": map[string]any{"poolRef": map[string]any{"name": "net"}, "prefixLength": 32}})
		}
		platform.must(http.StatusCreated, http.MethodPost, "/v1/projects/evil/claim-batches", map[string]any{"claims": batch})
	}
	require.Eventually(t, func() bool { return a.memory.Held() == 0 }, enough, 10*time.Millisecond)

	const share, asked = 8 << 20, 12
	conns := make([]net.Conn, asked)
	for i := range conns {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", a.Addr())
		require.NoError(t, err)
		require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4096)) //nolint:forcetypeassert // as it was dialled
		require.NoError(t, conn.SetDeadline(time.Now().Add(enough)))
		_, err = fmt.Fprintf(conn, "GET /v1/projects/evil/claims?limit=500 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", keys["evil"])
		require.NoError(t, err)
		conns[i] = conn
	}
	statuses := map[int]int{}
	for _, conn := range conns {
		w, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
		require.NoError(t, err)
		statuses[w.StatusCode]++
		require.LessOrEqual(t, a.memory.Held(), int64(share))
		defer w.Body.Close() //nolint:revive // nothing of it is read before the end
	}
	require.Positive(t, statuses[http.StatusOK])
	require.Positive(t, statuses[http.StatusTooManyRequests], "more than its share: %v", statuses)
	require.Greater(t, a.memory.Held(), int64(share/2), "what is not read is held")

	victim := tenant{t: t, base: platform.base, bearer: keys["victim"]}
	victim.must(http.StatusOK, http.MethodGet, "/v1/projects/victim/claims?limit=500", nil)
	for _, conn := range conns {
		require.NoError(t, conn.Close())
	}
	require.Eventually(t, func() bool { return a.memory.Held() == 0 }, enough, 10*time.Millisecond)
}
