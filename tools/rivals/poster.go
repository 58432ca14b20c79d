package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// poster sends POST requests over one kept connection for each client. It stands for net/http's client, which on a machine where
// the generator has the server's cores costs as much as a small server and would be measured instead.
type poster struct {
	addr string
	head string
	own  []connection
}

type connection struct {
	conn    net.Conn
	reader  *bufio.Reader
	request []byte
}

func newPoster(addr, path, token string, clients int) *poster {
	head := "POST " + path + " HTTP/1.1\r\nHost: " + addr + "\r\nUser-Agent: compare\r\nContent-Type: application/json\r\n"
	if token != "" {
		head += "Authorization: Bearer " + token + "\r\n"
	}
	return &poster{addr: addr, head: head + "Content-Length: ", own: make([]connection, clients)}
}

// post sends a body and answers the body of a 201; anything else is an error.
func (p *poster) post(ctx context.Context, client int, body []byte) ([]byte, error) {
	c := &p.own[client]
	if c.conn == nil {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.addr)
		if err != nil {
			return nil, err
		}
		c.conn, c.reader = conn, bufio.NewReader(conn)
	}
	answer, status, err := c.exchange(ctx, p.head, body)
	if err != nil {
		c.drop()
		return nil, err
	}
	if status != http.StatusCreated {
		return nil, fmt.Errorf("answered %d: %s", status, answer)
	}
	return answer, nil
}

func (c *connection) exchange(ctx context.Context, head string, body []byte) (answer []byte, status int, err error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Time{}
	}
	if err := c.conn.SetDeadline(deadline); err != nil {
		return nil, 0, err
	}
	c.request = append(c.request[:0], head...)
	c.request = strconv.AppendInt(c.request, int64(len(body)), 10)
	c.request = append(append(c.request, "\r\n\r\n"...), body...)
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
