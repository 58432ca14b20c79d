package guard

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// piped is a connection that reads from any reader.
type piped struct {
	net.Conn
	io.Reader
}

// Read implements io.Reader.
func (p piped) Read(b []byte) (int, error) { return p.Reader.Read(b) }

func throughHeads(t testing.TB, from io.Reader) []byte {
	t.Helper()
	out, err := io.ReadAll(&requestHeads{Conn: piped{Reader: from}})
	require.NoError(t, err)
	return out
}

// FuzzHeads passes an input to requestHeads in parts of different sizes. The output must be the same each time. It is the whole input, or the input
// up to the first fault, followed by bytes that the server refuses.
func FuzzHeads(f *testing.F) {
	for _, s := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "\r\nPOST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na\nbGET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\n\r\n", "GET / HTTP/1.1\nHost: x\n\n",
		"POST / HTTP/1.1\r\nHost: x\r\ntransfer-encoding: chunked\r\nCONTENT-LENGTH : 1\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n a\r\n\r\n",
		"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "GET / HTTP/1.1\r\nA: b\rC: d\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 18446744073709551616\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		got := throughHeads(t, bytes.NewReader(sent))
		require.Equal(t, got, throughHeads(t, iotest.OneByteReader(bytes.NewReader(sent))), "in other pieces")
		require.Equal(t, got, throughHeads(t, iotest.HalfReader(bytes.NewReader(sent))), "in other pieces")
		good, bad := bytes.CutSuffix(got, refusedHead)
		if bytes.Equal(got, sent) {
			return
		}
		require.True(t, bad)
		require.True(t, bytes.HasPrefix(sent, good))
		reader := bufio.NewReader(bytes.NewReader(got))
		for {
			r, err := http.ReadRequest(reader)
			if err != nil {
				require.NotErrorIs(t, err, io.EOF, "the server reads something wrong and does not stop there")
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
		}
	})
}
