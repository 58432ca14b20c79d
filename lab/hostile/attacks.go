package hostile

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// attack attacks a server until its context ends. It closes the channel under when the attack is fully under way.
type attack struct {
	name string
	run  func(ctx context.Context, s *server, o options, under chan<- struct{}) error
}

// attacks lists the attacks in the order of their measurement.
func attacks(o options) []attack {
	list := []attack{
		{name: "slow-loris: a header that comes a byte a second", run: slow(func(*server) string { return "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: " })},
		{name: "slow body of strangers", run: slow(func(*server) string { return "POST /v1/projects HTTP/1.1\r\nHost: x\r\n" + large })},
		{name: "slow bodies of a tenant with three keys", run: slow(func(s *server) string {
			return "POST /v1/projects/bad/claims HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + s.badKey() + "\r\n" + large
		})},
		{name: "slow small bodies of the same tenant", run: slow(func(s *server) string {
			return "POST /v1/projects/bad/claims HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + s.badKey() + "\r\nContent-Type: application/json\r\nContent-Length: 300\r\n\r\n{"
		})},
		{name: fmt.Sprintf("slow readers, %d", o.slow), run: unread},
		{name: "large answers that are not read", run: largeAnswers},
		{name: "1,000 followers of large changes", run: fan},
		{name: fmt.Sprintf("idle connections, %d", o.idle), run: idle},
		{name: "bodies of 1 GiB, chunked", run: endless("Transfer-Encoding: chunked\r\n\r\n40000000\r\n", true)},
		{name: "bodies of 1 GiB, announced", run: endless("Content-Length: 1073741824\r\n\r\n", true)},
		{name: "header bombs of 1 GiB", run: endless("X-Bomb: ", false)},
		{name: "gzip bombs, 100 MB in 100 kB", run: repeat(func(s *server) string {
			return post(s, "Content-Encoding: gzip\r\n", bomb())
		})},
		{name: "deep JSON, 1 MiB of brackets", run: repeat(func(s *server) string {
			return post(s, "", strings.Repeat(`{"a":`, 200_000))
		})},
		{name: "strangers who guess keys", run: repeat(func(*server) string {
			return "GET /v1/whoami HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer carve_00000000000000000000000000000000_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n\r\n"
		})},
	}
	list = append(list, costly()...)
	if o.tls {
		list = append(list, attack{name: "TLS handshakes that are not finished", run: handshakes}, attack{name: "HTTP/2 streams that are reset at once", run: resets})
	}
	return list
}

const large = "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"

// post returns a complete request of the attacker's project, as text.
func post(s *server, headers, body string) string {
	return fmt.Sprintf("POST /v1/projects/bad/claims HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\n%sContent-Length: %d\r\n\r\n%s", s.badKey(), headers, len(body), body)
}

// crowd runs n attackers. Each attacker reconnects when its connection ends. crowd closes the channel under when all attackers have connected once.
func crowd(ctx context.Context, n int, under chan<- struct{}, each func(ctx context.Context, connected func()) error) {
	var first, running sync.WaitGroup
	first.Add(n)
	doors := make(chan struct{}, 64) // limits concurrent connects, because a flood of SYNs would attack the operating system and not the server
	for range n {
		running.Go(func() {
			connected := sync.OnceFunc(first.Done)
			defer connected()
			for ctx.Err() == nil {
				doors <- struct{}{}
				inside := sync.OnceFunc(func() { <-doors })
				if each(ctx, func() { inside(); connected() }) != nil {
					inside()
					wait(ctx, 100*time.Millisecond)
				}
				inside()
			}
		})
	}
	go func() {
		first.Wait()
		close(under)
	}()
	running.Wait()
}

// wait waits for a time, or until the context ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// hold closes a connection when the context ends. release closes it earlier.
func hold(ctx context.Context, conn net.Conn) (release func()) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return func() {
		stop()
		_ = conn.Close()
	}
}

// slow sends the beginning of a request. It then sends one more byte each second.
func slow(beginning func(*server) string) func(context.Context, *server, options, chan<- struct{}) error {
	return func(ctx context.Context, s *server, o options, under chan<- struct{}) error {
		crowd(ctx, o.slow, under, func(ctx context.Context, connected func()) error {
			conn, err := s.dial(ctx)
			if err != nil {
				return err
			}
			defer hold(ctx, conn)()
			connected()
			if _, err := io.WriteString(conn, beginning(s)); err != nil {
				return err
			}
			for {
				wait(ctx, time.Second)
				if _, err := io.WriteString(conn, "x"); err != nil {
					return err
				}
			}
		})
		return nil
	}
}

// unread requests large responses and does not read them.
func unread(ctx context.Context, s *server, o options, under chan<- struct{}) error {
	text := strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n", 20)
	crowd(ctx, o.slow, under, func(ctx context.Context, connected func()) error {
		conn, err := s.dial(ctx)
		if err != nil {
			return err
		}
		defer hold(ctx, conn)()
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4 << 10)
		}
		connected()
		_, err = io.WriteString(conn, text)
		for err == nil && ctx.Err() == nil {
			wait(ctx, time.Second)
			_, err = io.WriteString(conn, "G") // a write shows whether the connection is still open
		}
		return err
	})
	return nil
}

// idle makes one request on each connection and then keeps the connection open.
func idle(ctx context.Context, s *server, o options, under chan<- struct{}) error {
	var open, peak atomic.Int64
	crowd(ctx, o.idle, under, func(ctx context.Context, connected func()) error {
		conn, err := s.dial(ctx)
		if err != nil {
			return err
		}
		defer hold(ctx, conn)()
		if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			return err
		}
		answer := make([]byte, 4096)
		if _, err := conn.Read(answer); err != nil {
			return err
		}
		connected()
		peak.Store(max(peak.Load(), open.Add(1)))
		defer open.Add(-1)
		_, err = conn.Read(answer) // blocks until the server closes the connection
		return err
	})
	if ctx.Err() != nil && peak.Load() < int64(o.idle)*9/10 {
		return fmt.Errorf("only %d connections were open at once", peak.Load())
	}
	return nil
}

// endless sends practically endless data over 8 connections.
func endless(head string, tenant bool) func(context.Context, *server, options, chan<- struct{}) error {
	return func(ctx context.Context, s *server, _ options, under chan<- struct{}) error {
		text := "POST /v1/projects/bad/claims HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
		if tenant {
			text += "Authorization: Bearer " + s.badKey() + "\r\n"
		}
		piece := []byte(strings.Repeat("x", 64<<10))
		crowd(ctx, 8, under, func(ctx context.Context, connected func()) error {
			conn, err := s.dial(ctx)
			if err != nil {
				return err
			}
			defer hold(ctx, conn)()
			connected()
			_, err = io.WriteString(conn, text+head)
			for sent := 0; err == nil && sent < 1<<30; sent += len(piece) {
				_, err = conn.Write(piece)
			}
			return err
		})
		return nil
	}
}

// repeat sends complete requests over 8 connections, 50 a second in total. Each request is cheap to send. The measurement shows its cost for the
// server.
func repeat(request func(*server) string) func(context.Context, *server, options, chan<- struct{}) error {
	return func(ctx context.Context, s *server, _ options, under chan<- struct{}) error {
		text := request(s)
		crowd(ctx, 8, under, func(ctx context.Context, connected func()) error {
			conn, err := s.dial(ctx)
			if err != nil {
				return err
			}
			defer hold(ctx, conn)()
			connected()
			go func() { _, _ = io.Copy(io.Discard, conn) }()
			for err == nil && ctx.Err() == nil {
				_, err = io.WriteString(conn, text)
				wait(ctx, 160*time.Millisecond)
			}
			return err
		})
		return nil
	}
}
