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

// wiretap relays the connections of a store. It records which statements are sent together in one round trip. A simple query is one round trip. In
// the extended protocol, all messages up to a Sync are one round trip. The round trip that prepares a statement is not counted, because it happens
// only once on each connection.
type wiretap struct {
	dsn  string
	asks []string // background statements that a request sends, too

	mu    sync.Mutex
	trips [][]string // round trips since the last attempt ended
	done  []attempted
	rows  int // number of rows returned since the last call of counted
}

// attempted is one attempt at a transaction or one read, with its name and its round trips.
type attempted struct {
	Op    string     `json:"op"`
	Trips [][]string `json:"trips"` // names of the statements in each round trip
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

// listen forwards the messages of a client. It records each message before the server gets it. So when an attempt ends, its record is complete.
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
	asked.put(false) // after the startup message, the server also sends ReadyForQuery
	if !pass(startup) {
		return
	}
	prepared, portals := map[string]string{}, map[string]string{} // SQL by the name of the prepared statement or portal
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

// questions contains the open round trips of a connection. For each, it records whether the store sent it in the background.
type questions struct {
	mu         sync.Mutex
	background []bool
}

func (q *questions) put(background bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.background = append(q.background, background)
}

// inBackground reports whether the server's current message responds to a background query. over means that this message ends the round trip.
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

// answer forwards the messages of a server unchanged. It counts the rows that requests get.
func (w *wiretap) answer(server io.Reader, client io.Writer, asked *questions) {
	head := make([]byte, 5) // the type, and the length including itself
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

// counted returns the number of rows since its last call.
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

// background reports whether a round trip belongs to the background work, and to no request.
func (w *wiretap) background(trip []string) bool {
	return len(trip) == 1 && inBackground(trip[0]) && !slices.Contains(w.asks, trip[0])
}

// inBackground reports whether a store sends this statement in the background. After a second of idle time, the pool pings a connection.
func inBackground(name string) bool {
	return slices.Contains([]string{"clock_read", "compatibility_get", "region_list", "-- ping"}, name)
}

// watch records an attempt when it ends.
func (w *wiretap) watch(a crdb.Attempt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done, w.trips = append(w.done, attempted{a.Op, w.trips}), nil
}

// take returns all attempts since its last call.
func (w *wiretap) take() (done []attempted) {
	w.mu.Lock()
	defer w.mu.Unlock()
	done, w.done, w.trips = w.done, nil, nil
	return done
}

// sentName returns the name of a statement. For BEGIN, COMMIT and similar statements it returns the text.
func sentName(sql string) string {
	if name, known := query.Name(sql); known {
		return name
	}
	text := strings.ToLower(strings.Join(strings.Fields(sql), " "))
	if strings.HasPrefix(text, "select pg_advisory_xact_lock") || strings.Contains(text, "pg_try_advisory_xact_lock") {
		return "lock" // PostgreSQL only; no number, because locks are in the order of their keys, and keys are random
	}
	return text
}
