package logspike

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/lab/latency"
	"github.com/carve-ipam/carve/lab/postgres"
	"github.com/carve-ipam/carve/lab/scale"
	"github.com/carve-ipam/carve/lab/tabular"
	"github.com/carve-ipam/carve/lab/tool"
)

// fragmented is a pool in which every second address is held.
type fragmented struct {
	db      *pgxpool.Pool
	pool    ID
	project ID
	held    int
	figures [][]string
}

// Fragments measures the first claims of servers without a cache, and lists, on pools in which every second address is held.
func Fragments(ctx context.Context, args []string) (err error) {
	f := flag.NewFlagSet("fragments", flag.ContinueOnError)
	sizes := f.String("sizes", "0,1M", "numbers of held blocks, comma-separated; 10M takes some minutes")
	url := f.String("database-url", "", "URL of a PostgreSQL or CockroachDB; empty: a private PostgreSQL")
	data := f.String("data", "bin/fragments-data", "directory of the private database, made and removed")
	if err := tool.Parse(f, args); err != nil {
		return err
	}
	server, err := postgres.Start(ctx, postgres.Options{URL: *url, Dir: *data, Connections: 50})
	if err != nil {
		return err
	}
	defer func() {
		if ended := server.Close(); err == nil {
			err = ended
		}
	}()
	lines := [][]string{{"held", "operation", "p50 ms", "p95 ms", "max ms"}}
	for size := range strings.SplitSeq(*sizes, ",") {
		held, err := scale.ParseSize(size)
		if err != nil {
			return err
		}
		name, err := server.Copy(ctx, "template0")
		if err != nil {
			return err
		}
		figures, err := measureFragments(ctx, server, name, held)
		lines = append(lines, figures...)
		if err != nil {
			return err
		}
		if err := server.Drop(name); err != nil {
			return err
		}
	}
	_, err = fmt.Fprint(os.Stdout, tabular.Table(lines, 2))
	return err
}

func measureFragments(ctx context.Context, server *postgres.Database, name string, held int) ([][]string, error) {
	db, err := Open(ctx, server.DSN(name), 16)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	f := &fragmented{db: db, pool: uuid.New(), project: uuid.New(), held: held}
	if err := Create(ctx, db); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{f.seedHolds, f.seedPages} {
		begun := time.Now()
		if err := step(ctx); err != nil {
			return nil, err
		}
		fmt.Fprintf(os.Stderr, "%d held: a step of the preparation took %s\n", held, time.Since(begun).Round(time.Millisecond))
	}
	if err := server.Settle(ctx, name); err != nil {
		return nil, err
	}
	err = f.measure(ctx)
	return f.figures, err
}

// seedHolds makes the rows of the holds.
func (f *fragmented) seedHolds(ctx context.Context) error {
	if _, err := f.db.Exec(ctx, `INSERT INTO entries (pool, kind, block, seq, at, body) VALUES ($1, 0, '', 1, now(), '{}')`, f.pool); err != nil {
		return err
	}
	const atATime = 50_000
	for from := 0; from < f.held; from += atATime {
		_, err := f.db.Exec(ctx, `
INSERT INTO entries (pool, kind, block, seq, at, project, name, body)
SELECT $1::UUID, 1, decode(lpad(to_hex(167772160 + 2 * n), 8, '0') || '20', 'hex'), 1, now(), $2::UUID,
	'held-' || n::TEXT, '{"by":"bench","policy":"delete"}'
FROM generate_series($3::INT8, $4::INT8) AS n`, f.pool, f.project, from, min(from+atATime, f.held)-1)
		if err != nil {
			return err
		}
	}
	return nil
}

// seedPages makes the snapshot.
func (f *fragmented) seedPages(ctx context.Context) error {
	block := netip.MustParsePrefix("10.0.0.0/7")
	t := newTree(block, nil)
	t.drop(t.root, 0)
	addr := block.Addr()
	for range f.held {
		t.put(t.root, netip.PrefixFrom(addr.Next(), 32))
		addr = addr.Next().Next()
	}
	for _, rest := range freespace.FromRange(addr, freespace.Last(block)) {
		t.put(t.root, rest)
	}
	pages, _ := t.snapshot(1, 1)
	fmt.Fprintf(os.Stderr, "%d held: %d pages, the root has %d bytes\n", f.held, len(pages), len(pages[len(pages)-1].body))
	return (&store{db: f.db}).saveSnapshot(ctx, f.pool, pages, nil, 1)
}

const fragmentRuns = 40

// measure measures each operation on new servers, and then with a cache.
func (f *fragmented) measure(ctx context.Context) error {
	n := 0
	claim := func(length int) func(*Engine) error {
		return func(e *Engine) error {
			n++
			_, err := e.Submit(ctx, Request{Project: f.project, Pool: f.pool, Claims: []Claim{{Name: fmt.Sprintf("new-%d", n), Length: length}}})
			return err
		}
	}
	release := func(e *Engine) error {
		n++
		_, err := e.Submit(ctx, Request{Project: f.project, Release: fmt.Sprintf("held-%d", n*7919%f.held)})
		return err
	}
	operations := []struct {
		name string
		cold bool
		run  func(*Engine) error
	}{
		{"first claim of an address, no cache", true, claim(32)},
		{"first claim of a /28, no cache", true, claim(28)},
		{"first release, no cache", true, release},
		{"claim of an address, cached", false, claim(32)},
		{"release, cached", false, release},
		{"first claim after 2,000 releases without a snapshot, no cache", true, claim(32)},
		{"page of 100 by address", false, func(e *Engine) error {
			_, err := e.Holds(ctx, f.pool, Hold{Block: netip.PrefixFrom(f.anyAddress(), 32)}, 100)
			return err
		}},
		{"page of 100 by name", false, func(e *Engine) error {
			_, err := e.ByName(ctx, f.project, fmt.Sprintf("held-%d", rand.IntN(max(f.held, 1))), 100) //nolint:gosec // G404: nobody guesses it
			return err
		}},
		{"look-up of an address", false, func(e *Engine) error {
			_, err := e.At(ctx, f.pool, f.anyAddress())
			if r, refused := errors.AsType[*Refusal](err); refused && r.Code == NotFound {
				return nil
			}
			return err
		}},
	}
	for _, o := range operations {
		if f.held == 0 && strings.Contains(o.name, "release") {
			continue
		}
		if strings.Contains(o.name, "2,000 releases") {
			if err := f.releaseMany(release); err != nil {
				return err
			}
		}
		if err := f.time(o.name, o.cold, o.run); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
	}
	return nil
}

// releaseMany makes a tail of log rows that no snapshot contains.
func (f *fragmented) releaseMany(release func(*Engine) error) error {
	e := New(f.db, Options{SaveAfter: 1 << 30, Sweep: -1})
	defer e.Close()
	for range 2000 {
		if err := release(e); err != nil {
			return err
		}
	}
	return nil
}

func (f *fragmented) time(name string, cold bool, run func(*Engine) error) error {
	o := Options{Sweep: -1}
	e := New(f.db, o)
	defer func() { e.Close() }()
	times := make([]time.Duration, fragmentRuns)
	if !cold {
		if err := run(e); err != nil {
			return err
		}
		times = make([]time.Duration, 10*fragmentRuns)
	}
	for i := range times {
		if cold {
			e.Close()
			e = New(f.db, o)
		}
		begun := time.Now()
		if err := run(e); err != nil {
			return err
		}
		times[i] = time.Since(begun)
	}
	f.figures = append(f.figures, []string{
		fmt.Sprint(f.held), name, tabular.Figure(latency.Milliseconds(latency.Percentile(times, 50))),
		tabular.Figure(latency.Milliseconds(latency.Percentile(times, 95))), tabular.Figure(latency.Milliseconds(slices.Max(times))),
	})
	return nil
}

// anyAddress returns a random address near the held blocks.
func (f *fragmented) anyAddress() netip.Addr {
	n := 10<<24 + rand.Uint32N(uint32(max(2*f.held, 1<<16))) //nolint:gosec // G404: nobody guesses it
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, n)))
}
