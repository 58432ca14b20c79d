package rivals

import (
	"fmt"
	"strconv"

	"github.com/carve-ipam/carve/lab/tabular"
)

// goal is one that Carve was set, and what came of it in this run. Whether it is reached is information: it makes no run fail.
type goal struct {
	Name     string  `json:"name"`
	Clients  int     `json:"clients,omitempty"`
	Measured float64 `json:"measured"`
	Limit    float64 `json:"limit"`
	AtMost   bool    `json:"atMost"` // the limit is an upper one
	Reached  bool    `json:"reached"`
}

// A compared goal is a ratio of one figure of two cells with the same number of clients.
type compared struct {
	name    string
	of, to  string // contestants
	held    int
	clients []int
	figure  func(*result) float64
	limit   float64
	atMost  bool
}

func rate(r *result) float64 { return r.Rate }
func p95(r *result) float64  { return r.P95 }

// wanted are the goals that cells of this program decide. Those about fill, scale and classes are decided elsewhere.
var wanted = []compared{
	{name: "claims over HTTP / HTTP + INSERT", of: "Carve, HTTP", to: "HTTP + INSERT", clients: []int{32, 64}, figure: rate, limit: 1.5},
	{name: "claims in process / INSERT", of: "Carve, in process", to: "INSERT", clients: busy, figure: rate, limit: 2},
	{name: "claims over HTTP / go-ipam, from empty", of: "Carve, HTTP", to: "go-ipam AcquireIP", clients: busy, figure: rate, limit: 40},
	{name: "claims over HTTP / go-ipam, 50,000 held", of: "Carve, HTTP", to: "go-ipam AcquireIP", held: 50_000, clients: busy, figure: rate, limit: 1000},
	{name: "claims over HTTP / lock the pool row, 50,000 held", of: "Carve, HTTP", to: "lock the pool row", held: 50_000, clients: busy, figure: rate, limit: 100},
	{name: "claims over HTTP / HTTP + INSERT, alone", of: "Carve, HTTP", to: "HTTP + INSERT", clients: []int{1}, figure: rate, limit: 0.6},
	{name: "batches of 1,000 in process / 100-row INSERT", of: "Carve, batch of 1,000", to: "100-row INSERT", clients: couple, figure: rate, limit: 0.3},
	{name: "batches of 1,000 over HTTP / 100-row INSERT", of: "Carve, HTTP, batch of 1,000", to: "100-row INSERT", clients: couple, figure: rate, limit: 0.3},
	{name: "p95 of a refusal by a full pool / of a claim", of: "Carve, HTTP, deny", to: "Carve, HTTP", clients: busy, figure: p95, limit: 1, atMost: true},
	{name: "p95 of a release / of a claim", of: "Carve, HTTP, release", to: "Carve, HTTP", clients: busy, figure: p95, limit: 1, atMost: true},
}

// goalsOf computes those goals whose cells were measured, and in the end how often anything of Carve's went wrong.
func goalsOf(results []*result) []goal {
	type key struct {
		contestant    string
		clients, held int
	}
	cells := map[key]*result{}
	wrong, ours := 0, false
	for _, r := range results {
		if r.Skipped == "" && r.Broken == "" {
			cells[key{r.Contestant, r.Clients, r.Held}] = r
		}
		if r.Kind == kindCarve || r.Kind == kindCarveHTTP {
			ours = true
			wrong += r.wrong()
		}
	}
	var goals []goal
	for _, w := range wanted {
		for _, n := range w.clients {
			of, to := cells[key{w.of, n, w.held}], cells[key{w.to, n, w.held}]
			if of == nil || to == nil || w.figure(of) == 0 || w.figure(to) == 0 {
				continue
			}
			g := goal{Name: w.name, Clients: n, Measured: w.figure(of) / w.figure(to), Limit: w.limit, AtMost: w.atMost}
			g.Reached = g.Measured >= g.Limit
			if g.AtMost {
				g.Reached = g.Measured <= g.Limit
			}
			goals = append(goals, g)
		}
	}
	if ours {
		goals = append(goals, goal{Name: "errors, doubles, cut off and broken cells of Carve", Measured: float64(wrong), AtMost: true, Reached: wrong == 0})
	}
	return goals
}

// wrong is how often a cell broke a promise.
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

// goalTable says of each goal what was measured; nothing where no goal's cells were.
func goalTable(goals []goal) string {
	if len(goals) == 0 {
		return ""
	}
	lines := [][]string{{"goal", "clients", "measured", "wanted", "reached"}}
	for _, g := range goals {
		bound, clients, reached := "≥ ", "", "no"
		if g.AtMost {
			bound = "≤ "
		}
		if g.Clients > 0 {
			clients = strconv.Itoa(g.Clients)
		}
		if g.Reached {
			reached = "yes"
		}
		lines = append(lines, []string{g.Name, clients, tabular.Figure(g.Measured), bound + strconv.FormatFloat(g.Limit, 'g', -1, 64), reached})
	}
	return fmt.Sprintf("\nGoals that this run decides:\n\n%s", tabular.Table(lines, 1))
}
