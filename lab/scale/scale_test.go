package scale

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb/query"
)

// testDatabase starts a database server for the test. The module that counts the cost of each statement must be loaded at the start.
func testDatabase(t *testing.T) *database {
	t.Helper()
	dir, err := os.MkdirTemp("", "carve-scale-")
	require.NoError(t, err)
	require.NoError(t, os.Remove(dir)) // only the name is needed, because the server makes the directory
	db, err := startDatabase(t.Context(), dir, true)
	if errors.Is(err, errNoStatistics) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// walk is an operation with a fault: it reads the whole pool, page by page, to find one block.
func walk(ctx context.Context, w *world, p place) (bool, error) {
	after := ""
	for {
		got, err := w.service.ListClaims(caller(ctx, "listClaims", ""), p.project, paging.Filter{}, page, after, usecase.Reading{})
		if err != nil || got.Next == "" {
			return true, err
		}
		after = got.Next
	}
}

func TestShortAxesAndChecksOnADatabase(t *testing.T) {
	t.Parallel()
	db := testDatabase(t)
	t.Run("ShortAxesAreFlatAndClean", func(t *testing.T) { testShortAxes(t, db) })
	t.Run("ChecksMissNothing", func(t *testing.T) { testChecks(t, db) })
}

func testShortAxes(t *testing.T, db *database) {
	t.Helper()
	for _, a := range axes() {
		t.Run(a.name, func(t *testing.T) {
			cells, err := a.plan(a.short)
			require.NoError(t, err)
			o := options{operations: append(reads(), operation{name: "walk", run: walk}), bounds: bounds{operations: 4, time: time.Second}, auditRows: 1e6}
			results, err := measureAxis(t.Context(), db, a, cells, o, slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			require.Len(t, results, len(cells))
			for _, r := range results {
				require.Equal(t, "audited", r.Checked)
				require.Empty(t, r.Broken)
				require.Len(t, r.Lines, len(reads())+3)
				for _, l := range r.Lines {
					require.Positive(t, l.Samples, l.Operation)
					require.Positive(t, l.Statements, l.Operation)
					if l.Operation != "claim" && l.Operation != "release" { // a few claims and releases mostly use rows that their server has read in advance
						require.Positive(t, l.Rows, l.Operation)
					}
					require.Positive(t, l.Pages, l.Operation)
				}
			}
			err = verdict(results)
			if a.name == "held" || a.name == "fill" { // on these axes, a larger cell has more pages to read
				require.ErrorContains(t, err, "walk takes more statements")
				for line := range strings.SplitSeq(err.Error(), "\n") {
					require.Contains(t, line, "walk takes more statements", "nothing else needs more statements")
				}
				return
			}
			require.NoError(t, err)
		})
	}
}

func testChecks(t *testing.T, db *database) {
	t.Helper()
	for _, c := range []struct {
		name string
		axis string
		size string
		lose string
	}{
		{"an allocation", "held", "1k", "DELETE FROM holds WHERE name = 'held-00000500'"},
		{"a free block", "fill", "5", "DELETE FROM free_blocks AS f USING pools AS p WHERE p.name = 'pool' AND f.container_id = p.id AND f.host_bits = 0"},
		{"a pool", "pools", "50", "DELETE FROM pools WHERE name = 'child-00000007'"},
		{"a shard of a quota", "projects", "10", "DELETE FROM quota_shards WHERE shard = 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cells, err := must(findAxis(c.axis)).cells(c.size)
			require.NoError(t, err)
			w, err := newWorld(t.Context(), db, cells[len(cells)-1].seed)
			require.NoError(t, err)
			defer func() { require.NoError(t, w.close()) }()
			r := &result{}
			check(t.Context(), w, cells[0], r, 1e6)
			require.Empty(t, r.Broken)
			check(t.Context(), w, cells[0], r, -1)
			require.Empty(t, r.Broken)
			s, err := newSeeder(t.Context(), db.DSN(w.name))
			require.NoError(t, err)
			require.NoError(t, s.run(t.Context(), c.lose))
			require.NoError(t, s.Close(t.Context()))
			for checked, auditRows := range map[string]int{"audited": 1e6, "counted": -1} {
				r := &result{}
				check(t.Context(), w, cells[len(cells)-1], r, auditRows)
				require.Equal(t, checked, r.Checked)
				require.NotEmpty(t, r.Broken, "%s without %s", checked, c.name)
			}
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestFreeBlocksCoverExactlyTheFreeUnits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		units := 1 << r.IntN(9)
		held := make([]bool, units)
		n := r.IntN(units + 1)
		if units > 1 && r.IntN(2) == 0 {
			for _, i := range scattered(units, n) {
				held[i] = true
			}
		} else {
			for i := range n {
				held[i] = true
			}
			require.Equal(t, span{units, func(i int) bool { return held[i] }}.freeBlocks(), front(units, n), "the two ways of one shape")
		}
		free := span{units, func(i int) bool { return held[i] }}.freeBlocks()
		covered := make([]bool, units)
		for _, b := range free {
			require.Zero(t, b[0]%b[1], "aligned")
			for i := b[0]; i < b[0]+b[1]; i++ {
				require.False(t, held[i] || covered[i])
				covered[i] = true
			}
			for _, c := range free {
				require.False(t, b != c && b[1] == c[1] && b[0]^b[1] == c[0], "%v and %v are buddies", b, c)
			}
		}
		for i := range units {
			require.NotEqual(t, held[i], covered[i])
		}
	}
}

func TestGrowthIsReported(t *testing.T) {
	t.Parallel()
	figuresOf := func(statements, rows, pages float64) *figures {
		return &figures{Operation: "get", counts: counts{
			Statements: statements, Rows: rows, Pages: pages,
			Parts: []part{{"claim_get", statements, pages}}, Tables: map[string]float64{"holds": rows},
		}}
	}
	for _, c := range []struct {
		name  string
		small *figures
		large *figures
		want  []string
		fails bool
	}{
		{"nothing", figuresOf(2, 10, 20), figuresOf(2, 10, 20), nil, false},
		{"an index that is a level deeper", figuresOf(2, 10, 20), figuresOf(2, 12, 29), nil, false},
		{"fewer", figuresOf(2, 500, 900), figuresOf(1, 10, 20), nil, false},
		{"one more statement", figuresOf(2, 10, 20), figuresOf(3, 10, 20), []string{"get takes more statements, most of them in claim_get: 2.00 in the smallest; 3.00 in 1M"}, true},
		{"rows and pages", figuresOf(2, 10, 20), figuresOf(2, 1000, 2000), []string{"more rows, most of them in table holds: 10.0 in the smallest; 1000 in 1M", "more pages, most of them in claim_get: 20.0 in the smallest; 2000 in 1M"}, false},
		{"pages alone", figuresOf(2, 10, 20), figuresOf(2, 10, 60), []string{"more pages, most of them in claim_get: 20.0 in the smallest; 60.0 in 1M"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := compareLines([]string{"get"}, map[string]*figures{"get": c.large}, map[string]*figures{"get": c.small})[0]
			all := grown("held", "1M", l)
			text := tell(all)
			require.Equal(t, len(c.want), strings.Count(text, "\n"), text)
			for _, want := range c.want {
				require.Contains(t, text, want)
			}
			err := verdict([]*result{{Grown: all}})
			require.Equal(t, c.fails, err != nil, "%v", err)
			require.ErrorContains(t, verdict([]*result{{Grown: all, Broken: "a gap"}}), "a gap")
		})
	}
}

func TestStatementHasTheNameOfItsFile(t *testing.T) {
	t.Parallel()
	// PostgreSQL counts texts together that differ only in constants. It numbers the constants after the parameters.
	counted := strings.NewReplacer("0::INT8", "$7::INT8", "''", "$8").Replace(query.Get("usage_claims"))
	require.NotEqual(t, query.Get("usage_claims"), counted)
	require.Equal(t, "usage_claims", statementName(counted))
	require.Equal(t, "free_tightest", statementName(query.Get("free_tightest")))
	require.Equal(t, "commit", statementName("commit"))
}

func TestInvalidFlagsAreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"-axis nothing":            "there are held, fill, size, projects, pools, history",
		"-sizes held":              "write AXIS=SIZE,SIZE",
		"-sizes held=0":            "nothing to compare",
		"-sizes held=0,many":       "not a number",
		"-sizes projects=0,1k":     "1 is the least",
		"-sizes fill=0,100":        "has to be free",
		"-sizes size=10.0.0.0/8,x": "not a block",
		"-ops 0":                   "must be positive",
		"held":                     "flags only",
	} {
		_, err := parse(strings.Fields(args), io.Discard)
		require.ErrorContains(t, err, want, args)
	}
	o, err := parse(strings.Fields("-axis held,fill -axis pools -sizes held=0,10k,1M -ops 5"), io.Discard)
	require.NoError(t, err)
	require.Equal(t, []string{"held", "fill", "pools"}, o.axes)
	cells, err := o.cells(must(findAxis("held")))
	require.NoError(t, err)
	require.Len(t, cells, 3)
	require.Equal(t, 2_000_000, cells[2].rows)
	cells, err = o.cells(must(findAxis("fill")))
	require.NoError(t, err)
	require.Len(t, cells, 9)
}

func TestPlotsHaveEachOperationAndCell(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, a := range axes() {
		cells, err := a.plan(a.sizes)
		require.NoError(t, err)
		var results []*result
		for i, c := range cells {
			r := &result{Cell: c.label, Shape: c.shape, Size: c.size}
			for k, op := range reads() {
				f := &figures{Operation: op.name, P50: float64(k + 1), P99: float64(k + i + 1), counts: counts{Pages: float64(10*i + 1)}}
				r.Lines = append(r.Lines, &line{figures: f, Smallest: f, Ratios: ratios{P50: 1, P99: 1 + float64(i)}})
			}
			results = append(results, r)
		}
		path := filepath.Join(dir, a.name+".svg")
		require.NoError(t, drawAxis(a, results, path))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, op := range reads() {
			require.Equal(t, 1, strings.Count(string(text), fmt.Sprintf(">%s<", op.name)), "%s in the legend of %s", op.name, a.name)
		}
		for _, c := range cells {
			require.GreaterOrEqual(t, strings.Count(string(text), fmt.Sprintf(">%s<", c.size)), len(panels), "%s below the plots of %s", c.size, a.name)
		}
		require.Contains(t, inTable(results), results[len(results)-1].Cell)
	}
}
