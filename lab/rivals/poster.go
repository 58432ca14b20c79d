package rivals

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"
)

// poster sends requests over one persistent connection for each client. It replaces net/http's client. If the generator and the server share cores,
// that client costs as much as a small server and would distort the measurement.
type poster struct {
	addr string
	path string
	head string // the text between the path and the length of the body
	own  []connection
	// keyed means that each request gets its own random Idempotency-Key, as clients make them.
	keyed bool
}

type connection struct {
	conn    net.Conn
	reader  *bufio.Reader
	request []byte
}

func newPoster(addr, path, token string, clients int) *poster {
	head := " HTTP/1.1\r\nHost: " + addr + "\r\nUser-Agent: compare\r\n"
	if token != "" {
		head += "Authorization: Bearer " + token + "\r\n"
	}
	return &poster{addr: addr, path: path, head: head, own: make([]connection, clients)}
}

// post sends a body and returns the body of a response with status 201 or 200. Any other status is an error.
func (p *poster) post(ctx context.Context, client int, body []byte) ([]byte, error) {
	answer, status, err := p.send(ctx, client, body)
	if err != nil {
		return nil, err
	}
	if status != http.StatusCreated && status != http.StatusOK {
		return nil, fmt.Errorf("answered %d: %s", status, answer)
	}
	return answer, nil
}

// send posts a body and returns the response with its status.
func (p *poster) send(ctx context.Context, client int, body []byte) (answer []byte, status int, err error) {
	return p.exchange(ctx, client, func(b []byte) []byte {
		b = append(append(append(b, "POST "...), p.path...), p.head...)
		if p.keyed {
			b = fmt.Appendf(b, "Idempotency-Key: %016x%016x\r\n", rand.Uint64(), rand.Uint64()) //nolint:gosec // G404: nobody guesses them
		}
		b = append(b, "Content-Type: application/json\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(len(body)), 10)
		return append(append(b, "\r\n\r\n"...), body...)
	})
}

// remove deletes the object at a path below the poster's path.
func (p *poster) remove(ctx context.Context, client int, below string) (answer []byte, status int, err error) {
	return p.exchange(ctx, client, func(b []byte) []byte {
		return append(append(append(append(append(b, "DELETE "...), p.path...), below...), p.head...), "\r\n"...)
	})
}

func (p *poster) exchange(ctx context.Context, client int, request func([]byte) []byte) (answer []byte, status int, err error) {
	c := &p.own[client]
	if c.conn == nil {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.addr)
		if err != nil {
			return nil, 0, err
		}
		c.conn, c.reader = conn, bufio.NewReader(conn)
	}
	c.request = request(c.request[:0])
	if answer, status, err = c.exchange(ctx); err != nil {
		c.drop()
	}
	return answer, status, err
}

func (c *connection) exchange(ctx context.Context) (answer []byte, status int, err error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Time{}
	}
	if err := c.conn.SetDeadline(deadline); err != nil {
		return nil, 0, err
	}
	if _, err := c.conn.Write(c.request); err != nil {
		return nil, 0, err
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return answer, response.StatusCode, err
}

func (c *connection) drop() {
	c.conn.Close()
	c.conn = nil
}

func (p *poster) close() {
	for i := range p.own {
		if p.own[i].conn != nil {
			p.own[i].drop()
		}
	}
}
