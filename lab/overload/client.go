package overload

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// client is one persistent connection. It replaces net/http's client. If the generator and the server share cores, that client costs as much as the
// server.
type client struct {
	addr   string
	conn   net.Conn
	reader *bufio.Reader
	buffer []byte
}

func (c *client) dial(ctx context.Context) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.addr)
	if err != nil {
		return err
	}
	c.conn = conn
	if c.reader == nil {
		c.reader = bufio.NewReader(conn)
	} else {
		c.reader.Reset(conn)
	}
	return nil
}

// exchange sends a request and returns the status of the response. The head ends before the value of Content-Length, which exchange adds.
func (c *client) exchange(ctx context.Context, head, body string, until time.Time) (status int, err error) {
	if c.conn == nil {
		if err := c.dial(ctx); err != nil {
			return 0, err
		}
	}
	c.buffer = append(c.buffer[:0], head...)
	c.buffer = strconv.AppendInt(c.buffer, int64(len(body)), 10)
	c.buffer = append(append(c.buffer, "\r\n\r\n"...), body...)
	keep := false
	defer func() {
		if !keep {
			c.close()
		}
	}()
	if err := c.conn.SetDeadline(until); err != nil {
		return 0, err
	}
	if _, err := c.conn.Write(c.buffer); err != nil {
		return 0, err
	}
	answer, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return 0, err
	}
	keep = !answer.Close
	switch {
	case answer.StatusCode != http.StatusServiceUnavailable && answer.StatusCode != http.StatusTooManyRequests:
	case answer.Header.Get("Retry-After") == "":
		return 0, errors.New("refused without saying when to come again")
	}
	return answer.StatusCode, nil
}

func (c *client) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// keep opens n persistent connections and uses each of them once.
func (s *server) keep(ctx context.Context, o options, n int) ([]client, error) {
	kept := make([]client, n)
	head := "GET /healthz HTTP/1.1\r\nHost: " + s.addr + "\r\nContent-Length: "
	for i := range kept {
		kept[i].addr = s.addr
		if _, err := kept[i].exchange(ctx, head, "", time.Now().Add(o.patience)); err != nil {
			return kept, fmt.Errorf("connection %d: %w", i, err)
		}
		if err := kept[i].conn.SetDeadline(time.Time{}); err != nil {
			return kept, err
		}
	}
	return kept, nil
}

func closeAll(kept []client) {
	for i := range kept {
		kept[i].close()
	}
}

// made numbers the claims of the whole run, so that each claim has a new name.
var made atomic.Int64

// request returns the next request and the status that it must get. The tenants take turns.
func (s *server) request() (head, body string, wanted int) {
	if s.reads {
		return s.asks[made.Add(1)%int64(len(s.asks))], "", http.StatusOK
	}
	n, body := s.claim()
	return s.asks[n%int64(len(s.asks))], body, http.StatusCreated
}

// claim returns the body of a claim with a new name. The pools take turns.
func (s *server) claim() (n int64, body string) {
	n = made.Add(1)
	return n, fmt.Sprintf(`{"metadata":{"name":"c%d"},"spec":{"poolRef":{"project":"platform","name":"pool-%d"},"prefixLength":32}}`, n, n%int64(s.pools))
}
