package hostile

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// largeClaims is the number of claims with long annotations in the attacker's project. Their names sort first, so they are on the first pages of a
// list.
const largeClaims = 480

// fillLarge makes claims that cause large responses.
func (s *server) fillLarge(ctx context.Context) error {
	for n := range largeClaims / 40 {
		if _, err := s.api.Do(ctx, http.MethodPost, "/v1/projects/bad/claim-batches", largeBatch(fmt.Sprint("a-large-", n), 40, 4, 4096)); err != nil {
			return err
		}
		wait(ctx, time.Second) // the attacker's rate limit applies here too
	}
	return nil
}

// largeBatch returns the body of a batch. Each of its claims has a number of annotations of the given size in bytes.
func largeBatch(name string, claims, annotations, bytes int) string {
	var texts, all strings.Builder
	for i := range annotations {
		fmt.Fprintf(&texts, `,"k%d":"%s"`, i, strings.Repeat("x", bytes))
	}
	for i := range claims {
		fmt.Fprintf(&all, `,{"metadata":{"name":"%s-%d","annotations":{%s}},"spec":{"poolRef":{"project":"good","name":"pool"},"prefixLength":32}}`, name, i, texts.String()[1:])
	}
	return `{"claims":[` + all.String()[1:] + `]}`
}

// largeAnswers requests the largest pages with one key over many connections, and does not read them.
func largeAnswers(ctx context.Context, s *server, _ options, under chan<- struct{}) error {
	text := "GET /v1/projects/bad/claims?limit=500 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + s.bad[0] + "\r\n\r\n"
	crowd(ctx, 150, under, func(ctx context.Context, connected func()) error {
		conn, err := s.dial(ctx)
		if err != nil {
			return err
		}
		defer hold(ctx, conn)()
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4 << 10)
		}
		if _, err = io.WriteString(conn, text); err != nil {
			return err
		}
		connected()
		for err == nil && ctx.Err() == nil {
			wait(ctx, time.Second)
			_, err = io.WriteString(conn, "G") // a write shows whether the connection is still open
		}
		return err
	})
	return nil
}

// batchesAsked numbers the batches of fan, so that each batch has new names.
var batchesAsked atomic.Int64

// fan follows the changes of the attacker's project on a thousand connections with one key. With another key, it makes batches of large claims.
func fan(ctx context.Context, s *server, _ options, under chan<- struct{}) error {
	text := "GET /v1/projects/bad/changes HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer " + s.bad[0] + "\r\n\r\n"
	there := make(chan struct{})
	go func() {
		select {
		case <-there:
			close(under)
		case <-ctx.Done():
			return
		}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: s.secure}}
		for ctx.Err() == nil {
			body := largeBatch(fmt.Sprint("fan-", batchesAsked.Add(1)), 220, 1, 4000)
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.api.URL+"/v1/projects/bad/claim-batches", strings.NewReader(body))
			if err != nil {
				return
			}
			r.Header.Set("Authorization", "Bearer "+s.bad[1])
			r.Header.Set("Content-Type", "application/json")
			if w, err := client.Do(r); err == nil {
				_, _ = io.Copy(io.Discard, w.Body)
				_ = w.Body.Close()
			}
			wait(ctx, time.Second)
		}
	}()
	crowd(ctx, 1000, there, func(ctx context.Context, connected func()) error {
		conn, err := s.dial(ctx)
		if err != nil {
			return err
		}
		defer hold(ctx, conn)()
		if _, err := io.WriteString(conn, text); err != nil {
			return err
		}
		begin := make([]byte, 512)
		if _, err := conn.Read(begin); err != nil {
			return err
		}
		connected()
		_, err = io.Copy(io.Discard, conn)
		return err
	})
	return nil
}
