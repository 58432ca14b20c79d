package app

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// impatient are timeouts for which a test can wait. They are long enough for a slow machine that sends its requests without a pause.
var impatient = bounds{header: 10 * time.Second, read: 30 * time.Second, idle: 10 * time.Second, slack: 10 * time.Second, grace: 5 * time.Second}

// launchBounded does the same as launch, with the given timeouts of connections. It also returns the token of an admin.
func launchBounded(t *testing.T, b bounds, flags ...string) (a *App, token string) {
	t.Helper()
	dsn := dbtest.New(t)
	config, _, err := ParseConfig(append([]string{"--listen=127.0.0.1:0", "--max-connections=4", "--auth=keys", "--database-url=" + dsn}, flags...), nil)
	require.NoError(t, err)
	config.bounds = b
	a, err = Start(t.Context(), config, t.Output())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close(context.Background())) })
	token, err = Bootstrap(t.Context(), dsn, "local")
	require.NoError(t, err)
	return a, token
}

// enough is a deadline for operations that the server must end earlier. If it passes, the test fails.
const enough = time.Minute

// raw sends bytes unchanged and returns the response. whole is true if the server closed the connection after the response.
func raw(t *testing.T, address string, request io.Reader) (status int, said string, whole bool) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(enough)))
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.Copy(conn, request) // the server stops reading a request that it has refused
	}()
	reader := bufio.NewReader(conn)
	if w, err := http.ReadResponse(reader, nil); err == nil {
		body, _ := io.ReadAll(w.Body)
		status, said = w.StatusCode, string(body)
		_ = w.Body.Close()
	}
	_, err = reader.ReadByte()
	whole = err != nil && !isTimeout(err)
	_ = conn.Close()
	<-sent
	return status, said, whole
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

func gzipped(n int) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(make([]byte, n))
	_ = z.Close()
	return b.String()
}

// endless returns the head of a request and a body of n bytes. It does not hold the body in memory.
func endless(head string, n int64) io.Reader {
	return io.MultiReader(strings.NewReader(head), io.LimitReader(same('x'), n))
}

type same byte

// Read implements io.Reader.
func (s same) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(s)
	}
	return len(p), nil
}

// TestHostileRequestsAreRefused checks each response, and that the server closes the connection. Afterwards the server must still serve other
// requests.
func TestHostileRequestsAreRefused(t *testing.T) {
	t.Parallel()
	a, token := launchBounded(t, impatient)
	t.Run("One", func(t *testing.T) {
		const create = "POST /v1/projects HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer "
		with := func(headers, body string) string { return create + token + "\r\n" + headers + "\r\n" + body }
		sized := func(headers, body string) string {
			return with(headers+fmt.Sprintf("Content-Length: %d\r\n", len(body)), body)
		}
		for name, tc := range map[string]struct {
			request io.Reader
			status  int
			says    string
		}{
			"HeaderBomb":              {endless("GET /healthz HTTP/1.1\r\nHost: x\r\nX: ", 1<<30), 431, ""},
			"ManyHeaders":             {strings.NewReader("GET /healthz HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("a: b\r\n", 100_000) + "\r\n"), 431, ""},
			"HugeURL":                 {endless("GET /healthz?", 1<<30), 431, ""},
			"HugeMethod":              {endless("", 1<<30), 431, ""},
			"NoHost":                  {strings.NewReader("GET /healthz HTTP/1.1\r\n\r\n"), 400, "missing required Host header"},
			"TwoHosts":                {strings.NewReader("GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"), 400, ""},
			"InvalidHost":             {strings.NewReader("GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n"), 400, "malformed Host header"},
			"BlankInAHeadersName":     {strings.NewReader("GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length : 3\r\n\r\nabc"), 400, ""},
			"TwoLengths":              {strings.NewReader(with("Content-Length: 3\r\nContent-Length: 4\r\n", "abc")), 400, ""},
			"SignedLength":            {strings.NewReader(with("Content-Length: +3\r\n", "abc")), 400, ""},
			"EncodedChunks":           {strings.NewReader(with("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n")), 501, ""},
			"ChunksTwice":             {strings.NewReader(with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")), 501, ""},
			"HTTP3":                   {strings.NewReader("GET /healthz HTTP/3.0\r\nHost: x\r\n\r\n"), 505, ""},
			"NoHTTP":                  {strings.NewReader("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n"), 400, ""},
			"BodyThatIsTooLarge":      {endless(with("Content-Length: 1073741824\r\n", ""), 1<<30), 413, "larger than 1048576 bytes"},
			"EndlessChunks":           {endless(with("Transfer-Encoding: chunked\r\n", "40000000\r\n"), 1<<30), 413, "larger than 1048576 bytes"},
			"CompressedBomb":          {strings.NewReader(sized("Content-Encoding: gzip\r\nConnection: close\r\n", gzipped(100<<20))), 415, "compressed body"},
			"DeepJSON":                {strings.NewReader(sized("Connection: close\r\n", strings.Repeat(`{"a":`, 100_000))), 400, "nested more than 64 levels"},
			"BrokenChunks":            {strings.NewReader(with("Transfer-Encoding: chunked\r\n", "zz\r\nabc\r\n0\r\n\r\n")), 400, "ended before it was complete"},
			"LongTrailer":             {endless(with("Transfer-Encoding: chunked\r\nTrailer: X\r\n", "2\r\n{}\r\n0\r\nX: "), 1<<20), 400, ""},
			"ExpectsTheUnexpected":    {strings.NewReader(sized("Expect: a-miracle\r\n", "{}")), 417, ""},
			"SlowHeader":              {slowly("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "), 0, ""},
			"SilenceFromTheStart":     {slowly(""), 0, ""},
			"SlowBody":                {slowly(with("Content-Length: 100\r\n", `{"metadata"`)), 400, "arrived too slowly"},
			"SlowChunks":              {slowly(with("Transfer-Encoding: chunked\r\n", "4\r\n{   \r\n")), 400, "arrived too slowly"},
			"SlowUnauthenticatedBody": {slowly("POST /v1/projects HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"), 401, ""},
			"SilenceAfterARequest":    {slowly("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), 200, ""},
			"HTTP10":                  {strings.NewReader("GET /healthz HTTP/1.0\r\n\r\n"), 200, ""},
			"UnknownMethod":           {strings.NewReader("BREW /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), 405, ""},
			"TraceThatWouldEcho":      {strings.NewReader("TRACE /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), 405, ""},
			"ConnectAsThroughProxy":   {strings.NewReader("CONNECT db.example.com:5432 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), 404, ""},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				status, said, closed := raw(t, a.Addr(), tc.request)
				require.Equal(t, tc.status, status, said)
				require.Contains(t, said, tc.says)
				require.True(t, closed, "the connection is kept")
			})
		}
	})
	require.Equal(t, http.StatusOK, get(t, http.DefaultClient, "http://"+a.Addr()+"/v1/whoami", token).status, "others are served")
	require.Zero(t, a.inFlight.Load().Now, "nobody has a place that is not worked for")
}

// Two readers of one connection could parse such a request differently. The server refuses it and closes the connection, so that the bytes that
// follow become no request.
func TestAmbiguousRequestsEndTheConnection(t *testing.T) {
	t.Parallel()
	a, token := launchBounded(t, impatient)
	const chunks = "1d\r\n{\"metadata\":{\"name\":\"chunk\"}}\r\n0\r\n\r\n"
	create := "POST /v1/projects HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer " + token + "\r\n"
	const next = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, c := range map[string]struct {
		request  string
		statuses []int
	}{
		"ALengthBesideChunks":       {create + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + next, []int{400}},
		"ChunksTogetherWithALength": {create + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n" + chunks + next, []int{400}},
		"ChunksOfHTTP10":            {strings.Replace(create, "HTTP/1.1", "HTTP/1.0", 1) + "Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n" + chunks + next, []int{400}},
		"AFoldedLine":               {"GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c\r\n\r\n" + next, []int{400}},
		"AFoldedLengthByATab":       {create + "Content-Length:\r\n\t3\r\n\r\n{} " + next, []int{400}},
		"ABlankBeforeTheFirst":      {"GET /healthz HTTP/1.1\r\n Host: x\r\n\r\n" + next, []int{400}},
		"ABareLineFeed":             {"GET /healthz HTTP/1.1\r\nHost: x\nX-A: b\r\n\r\n" + next, []int{400}},
		"BareLineFeedsAlone":        {"GET /healthz HTTP/1.1\nHost: x\n\n" + next, []int{400}},
		"ABareLineFeedAtTheEnd":     {"GET /healthz HTTP/1.1\r\nHost: x\r\n\n" + next, []int{400}},
		"ABareCarriageReturn":       {"GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: b\rX-B: c\r\n\r\n" + next, []int{400}},
		"AfterAGoodOne":             {next + "GET /healthz HTTP/1.1\r\nHost: x\n\r\n" + next, []int{200, 400}},
		"AfterABody":                {create + "Content-Length: 2\r\n\r\n{}GET /healthz HTTP/1.1\r\nHost: x\n\r\n" + next, []int{400, 400}},
		"ChunksAloneAreAnswered":    {create + "Transfer-Encoding: chunked\r\n\r\n" + chunks + next, []int{201}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", a.Addr())
			require.NoError(t, err)
			defer conn.Close()
			require.NoError(t, conn.SetDeadline(time.Now().Add(enough)))
			_, err = io.WriteString(conn, c.request)
			require.NoError(t, err)
			reader := bufio.NewReader(conn)
			var got []int
			for {
				w, err := http.ReadResponse(reader, nil)
				if err != nil {
					require.False(t, isTimeout(err), "the connection is kept")
					break
				}
				got = append(got, w.StatusCode)
				_, _ = io.Copy(io.Discard, w.Body)
				_ = w.Body.Close()
			}
			require.Equal(t, c.statuses, got)
		})
	}
}

// A client sends requests and does not read the responses. When the write timeout expires, the server closes the connection. Only then does the
// handler return its slot.
func TestSlowReadersAreDisconnected(t *testing.T) {
	t.Parallel()
	a, _ := launchBounded(t, bounds{header: enough, read: enough, idle: enough, slack: 5 * time.Second, grace: enough}, "--request-timeout=5s")
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", a.Addr())
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(enough)))
	const asked = 2000
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(conn, strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n", asked))
		sent <- err
	}()
	reader, answered := bufio.NewReader(conn), 0
	_, err = reader.Peek(1)
	require.NoError(t, err, "it is being answered")
	require.Eventually(t, func() bool { return a.main.clients.Load().Open == 0 }, enough, 10*time.Millisecond, "nothing more is read, and the connection is closed")
	for ; answered <= asked; answered++ {
		w, err := http.ReadResponse(reader, nil)
		if err != nil {
			break
		}
		_, err = io.Copy(io.Discard, w.Body)
		_ = w.Body.Close()
		if err != nil {
			break
		}
	}
	require.Less(t, answered, asked, "what fits into the buffers of the system, and no more")
	require.NoError(t, conn.Close())
	<-sent
}

// slowly is a request that never ends.
func slowly(beginning string) io.Reader { return io.MultiReader(strings.NewReader(beginning), never{}) }

// never is the rest of a request that never arrives. It contains nothing, and the connection stays open.
type never struct{}

// Read implements io.Reader.
func (never) Read([]byte) (int, error) { return 0, io.EOF }
