package crdb_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/query"
)

// wiretap relays a store's connections and writes down which statements go out together: a query, or everything up to a Sync, is one
// round trip. Preparing a statement is a round trip too, the first time on a connection, and is not counted.
type wiretap struct {
	dsn  string
	asks []string // what requests ask as well, of all that a store asks by itself

	mu    sync.Mutex
	trips [][]string // since the last attempt ended
	done  []attempted
	rows  int // that were answered since somebody last asked
}

// attempted is one attempt at a transaction, or one read: what it is called, and what it sent.
type attempted struct {
	Op    string     `json:"op"`
	Trips [][]string `json:"trips"` // the statements of each, by name
}

func newWiretap(t *testing.T, dsn string, asks ...string) *wiretap {
	t.Helper()
	cfg, err := pgconn.ParseConfig(dsn)
	require.NoError(t, err)
	network, address := pgconn.NetworkAddress(cfg.Host, cfg.Port)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	u := url.URL{Scheme: "postgres", User: url.User(cfg.User), Host: l.Addr().String(), Path: "/" + cfg.Database, RawQuery: "sslmode=disable"}
	w := &wiretap{dsn: u.String(), asks: asks}
	var relays sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		relays.Wait()
	})
	relays.Go(func() {
		for client, err := l.Accept(); err == nil; client, err = l.Accept() {
			server, err := (&net.Dialer{}).DialContext(context.Background(), network, address)
			if err != nil {
				_ = client.Close()
				continue
			}
			asked := new(questions)
			relays.Go(func() {
				w.answer(server, client, asked)
				_ = client.Close()
			})
			relays.Go(func() {
				w.listen(client, server, asked)
				_ = server.Close()
			})
		}
	})
	return w
}

// listen passes on what a client says, noting it before the server hears it: when an attempt has ended, all of it is noted.
func (w *wiretap) listen(client io.Reader, server io.Writer, asked *questions) {
	be := pgproto3.NewBackend(client, nil)
	startup, err := be.ReceiveStartupMessage()
	if err != nil {
		return
	}
	pass := func(m pgproto3.FrontendMessage) bool {
		raw, err := m.Encode(nil)
		if err == nil {
			_, err = server.Write(raw)
		}
		return err == nil
	}
	asked.put(false) // whoever connects is told that the server is ready, too
	if !pass(startup) {
		return
	}
	prepared, portals := map[string]string{}, map[string]string{} // SQL by name
	var trip []string
	for {
		m, err := be.Receive()
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *pgproto3.Query:
			trip = []string{sentName(m.String)}
			asked.put(w.background(trip))
			w.note(trip)
			trip = nil
		case *pgproto3.Parse:
			prepared[m.Name] = m.Query
		case *pgproto3.Bind:
			portals[m.DestinationPortal] = prepared[m.PreparedStatement]
		case *pgproto3.Execute:
			trip = append(trip, sentName(portals[m.Portal]))
		case *pgproto3.Sync:
			asked.put(w.background(trip))
			w.note(trip)
			trip = nil
		}
		if !pass(m) {
			return
		}
	}
}

// questions are the round trips of a connection that the server has not ended its answer to: whether each is one of a store's own.
type questions struct {
	mu         sync.Mutex
	background []bool
}

func (q *questions) put(background bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.background = append(q.background, background)
}

// inBackground reports whether what the server says now answers a question in the background, and whether that is over by it.
func (q *questions) inBackground(over bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.background) == 0 {
		return false
	}
	is := q.background[0]
	if over {
		q.background = q.background[1:]
	}
	return is
}

// answer passes on what a server says as it is, and counts the rows that it says to requests.
func (w *wiretap) answer(server io.Reader, client io.Writer, asked *questions) {
	head := make([]byte, 5) // what it is, and its length with that of the length
	for {
		if _, err := io.ReadFull(server, head); err != nil {
			return
		}
		if background := asked.inBackground(head[0] == 'Z'); head[0] == 'D' && !background {
			w.mu.Lock()
			w.rows++
			w.mu.Unlock()
		}
		rest := io.LimitReader(server, int64(binary.BigEndian.Uint32(head[1:]))-4)
		if _, err := io.Copy(client, io.MultiReader(bytes.NewReader(head), rest)); err != nil {
			return
		}
	}
}

// counted answers how many rows came since it was last asked.
func (w *wiretap) counted() (rows int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	rows, w.rows = w.rows, 0
	return rows
}

func (w *wiretap) note(trip []string) {
	if len(trip) == 0 || w.background(trip) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trips = append(w.trips, trip)
}

// background reports whether a round trip is of no request.
func (w *wiretap) background(trip []string) bool {
	return len(trip) == 1 && inBackground(trip[0]) && !slices.Contains(w.asks, trip[0])
}

// inBackground reports whether a statement is one that a store asks when it likes, and for no request. The pool pings what was idle for a second.
func inBackground(name string) bool {
	return slices.Contains([]string{"clock_read", "compatibility_get", "region_list", "-- ping"}, name)
}

// watch is told of each attempt when it has ended.
func (w *wiretap) watch(a crdb.Attempt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done, w.trips = append(w.done, attempted{a.Op, w.trips}), nil
}

// take answers all attempts since it was last asked.
func (w *wiretap) take() (done []attempted) {
	w.mu.Lock()
	defer w.mu.Unlock()
	done, w.done, w.trips = w.done, nil, nil
	return done
}

// sentName is the name of a statement that was sent; BEGIN, COMMIT and the like go by their text.
func sentName(sql string) string {
	if name, known := query.Name(sql); known {
		return name
	}
	text := strings.ToLower(strings.Join(strings.Fields(sql), " "))
	if strings.HasPrefix(text, "select pg_advisory_xact_lock") || strings.Contains(text, "pg_try_advisory_xact_lock") {
		return "lock" // PostgreSQL's alone, in the order of the keys, which are random
	}
	return text
}
