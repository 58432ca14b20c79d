package rivals

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/carve-ipam/carve/lab/tabular"
)

// A compared goal is the figure of one cell divided by the figure of another cell. Both cells have the same number of clients.
type compared struct {
	name    string
	of, to  string // contestants; if to is empty, the goal is the figure itself
	held    int
	clients int
	figure  func(*result) float64
	limit   float64 // 0 means a figure without a goal
	atMost  bool    // the limit is an upper limit
}

func (w compared) title() string {
	if w.clients == 1 {
		return w.name + ", 1 client"
	}
	return w.name + ", " + strconv.Itoa(w.clients) + " clients"
}

func rate(r *result) float64     { return r.Rate }
func p95(r *result) float64      { return r.P95 }
func logBytes(r *result) float64 { return r.WAL }

const (
	toInsert   = "claims over HTTP / HTTP + INSERT"
	keysInsert = "claims over HTTP with Idempotency-Keys / HTTP + INSERT"
)

// onPostgreSQL lists the goals for PostgreSQL.
var onPostgreSQL = []compared{
	{name: toInsert, of: overHTTP, to: httpInsert, clients: 1, figure: rate, limit: 0.6},
	{name: keysInsert, of: withKeys, to: httpInsert, clients: 1, figure: rate},
	{name: toInsert, of: overHTTP, to: httpInsert, clients: 32, figure: rate, limit: 1.2},
	{name: keysInsert, of: withKeys, to: httpInsert, clients: 32, figure: rate, limit: 1},
	{name: toInsert, of: overHTTP, to: httpInsert, clients: 64, figure: rate, limit: 1.3},
	{name: keysInsert, of: withKeys, to: httpInsert, clients: 64, figure: rate, limit: 1},
	{name: "claims from own pools / from one pool", of: ownPools, to: overHTTP, clients: 32, figure: rate, limit: 0.75},
	{name: "p95 of a release / of a claim", of: release, to: overHTTP, clients: 32, figure: p95, limit: 1, atMost: true},
	{name: "p95 of a refusal / of a claim", of: refuse, to: overHTTP, clients: 32, figure: p95, limit: 0.7, atMost: true},
	{name: "claims in process / INSERT", of: inProcess, to: insert, clients: 32, figure: rate, limit: 1.3},
	{name: "claims in process / INSERT", of: inProcess, to: insert, clients: 64, figure: rate, limit: 2},
	{name: "batches of 1,000 in process / 100-row INSERT", of: claimBatch, to: insertBatch, clients: 1, figure: rate, limit: 0.3},
	{name: "batches of 1,000 over HTTP / 100-row INSERT", of: httpBatch, to: insertBatch, clients: 1, figure: rate, limit: 0.2},
	{name: "bytes of the database's log for a claim", of: overHTTP, clients: 64, figure: logBytes, limit: 750, atMost: true},
	{name: "bytes of the database's log for a claim with a key", of: withKeys, clients: 64, figure: logBytes, atMost: true},
	{name: "claims over HTTP / go-ipam's service, from empty", of: overHTTP, to: goIPAMServed, clients: 32, figure: rate, limit: 40},
	{name: "claims over HTTP / lock and scan, 50,000 held", of: overHTTP, to: lockAndScan, held: 50_000, clients: 32, figure: rate, limit: 250},
}

// onCockroachDB lists the goals for CockroachDB.
var onCockroachDB = []compared{
	{name: toInsert, of: overHTTP, to: httpInsert, clients: 1, figure: rate, limit: 0.5},
	{name: keysInsert, of: withKeys, to: httpInsert, clients: 1, figure: rate},
	{name: toInsert, of: overHTTP, to: httpInsert, clients: 32, figure: rate, limit: 2},
	{name: keysInsert, of: withKeys, to: httpInsert, clients: 32, figure: rate},
	{name: "claims from own pools / HTTP + INSERT", of: ownPools, to: httpInsert, clients: 32, figure: rate, limit: 1},
	{name: toInsert, of: overHTTP, to: httpInsert, clients: 64, figure: rate, limit: 3},
	{name: keysInsert, of: withKeys, to: httpInsert, clients: 64, figure: rate},
}

// goal is a goal with its result in this run. A missed goal is only reported. It does not fail the run.
type goal struct {
	Name     string  `json:"name"`
	Measured float64 `json:"measured"` // the median of the rounds
	Lowest   float64 `json:"lowest"`
	Highest  float64 `json:"highest"`
	Rounds   int     `json:"rounds"` // number of rounds with a result
	Limit    float64 `json:"limit,omitempty"`
	AtMost   bool    `json:"atMost"`
	Reached  bool    `json:"reached"`
}

// judged returns a goal with the results of all rounds.
func judged(name string, limit float64, atMost bool, measured ...float64) goal {
	g := goal{Name: name, Limit: limit, AtMost: atMost, Rounds: len(measured)}
	if len(measured) > 0 {
		g.Measured, g.Lowest, g.Highest = median(measured), slices.Min(measured), slices.Max(measured)
		g.Reached = g.Measured >= limit
		if atMost {
			g.Reached = g.Measured <= limit
		}
	}
	return g
}

// median returns the middle figure, or the mean of the two middle figures.
func median(figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// goalsOf computes the ratio of each goal for each round. In a round, the two cells were measured one after the other.
func goalsOf(wanted []compared, results []*result) []goal {
	type key struct {
		contestant           string
		clients, held, round int
	}
	cells, rounds := map[key]*result{}, 0
	for _, r := range results {
		rounds = max(rounds, r.Round+1)
		if r.Skipped == "" && r.Broken == "" {
			cells[key{r.Contestant, r.Clients, r.Held, r.Round}] = r
		}
	}
	var goals []goal
	for _, w := range wanted {
		var measured []float64
		for n := range rounds {
			of, to := cells[key{w.of, w.clients, w.held, n}], cells[key{w.to, w.clients, w.held, n}]
			switch {
			case of == nil || w.figure(of) == 0:
			case w.to == "":
				measured = append(measured, w.figure(of))
			case to != nil && w.figure(to) > 0:
				measured = append(measured, w.figure(of)/w.figure(to))
			}
		}
		goals = append(goals, judged(w.title(), w.limit, w.atMost, measured...))
	}
	return goals
}

// goalTable formats the results of the goals as a table.
func goalTable(goals []goal) string {
	lines := [][]string{{"goal", "measured", "lowest – highest", "goal is", "result"}}
	for _, g := range goals {
		limit, verdict := "", ""
		if g.Limit > 0 {
			limit, verdict = "≥ ", "missed"
			if g.AtMost {
				limit = "≤ "
			}
			limit += strconv.FormatFloat(g.Limit, 'g', -1, 64)
		}
		if g.Limit > 0 && g.Reached {
			verdict = "reached"
		}
		if g.Rounds == 0 {
			lines = append(lines, []string{g.Name, "", "", limit, "not measured"})
			continue
		}
		spread := ""
		if g.Rounds > 1 {
			spread = tabular.Figure(g.Lowest) + " – " + tabular.Figure(g.Highest)
		}
		lines = append(lines, []string{g.Name, tabular.Figure(g.Measured), spread, limit, cmp.Or(verdict, "no goal")})
	}
	return fmt.Sprintf("\n%s", tabular.Table(lines, 1))
}

// wrong returns the number of a cell's faults.
func (r *result) wrong() int {
	n := r.Doubles + r.Errors + r.CutOff
	if r.Broken != "" {
		n++
	}
	if r.Skipped != "" {
		n++
	}
	return n
}
