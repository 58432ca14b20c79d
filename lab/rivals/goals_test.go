package rivals

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGoalsAreRatiosOfMeasuredCells(t *testing.T) {
	t.Parallel()
	goals := goalsOf([]*result{
		{Contestant: "HTTP + INSERT", Kind: kindFloor, Clients: 32, Rate: 1000},
		{Contestant: "HTTP + INSERT", Kind: kindFloor, Clients: 64, Rate: 1000},
		{Contestant: "Carve, HTTP", Kind: kindCarveHTTP, Clients: 32, Rate: 1500, P95: 10},
		{Contestant: "Carve, HTTP", Kind: kindCarveHTTP, Clients: 64, Rate: 1400},
		{Contestant: "Carve, HTTP", Kind: kindCarveHTTP, Clients: 32, Held: 50_000, Rate: 2000},
		{Contestant: "lock the pool row", Kind: kindRival, Clients: 32, Rate: 1},
		{Contestant: "lock the pool row", Kind: kindRival, Clients: 32, Held: 50_000, Rate: 20},
		{Contestant: "go-ipam AcquireIP", Kind: kindRival, Clients: 32, Held: 50_000, Skipped: "too slow"},
		{Contestant: "Carve, HTTP, release", Kind: kindCarveHTTP, Task: taskRelease, Clients: 32, P95: 10},
		{Contestant: "Carve, HTTP, deny", Kind: kindCarveHTTP, Task: taskDeny, Clients: 32, P95: 11, Errors: 1},
	})
	require.Equal(t, []goal{
		{Name: "claims over HTTP / HTTP + INSERT", Clients: 32, Measured: 1.5, Limit: 1.5, Reached: true},
		{Name: "claims over HTTP / HTTP + INSERT", Clients: 64, Measured: 1.4, Limit: 1.5},
		{Name: "claims over HTTP / lock the pool row, 50,000 held", Clients: 32, Measured: 100, Limit: 100, Reached: true},
		{Name: "p95 of a refusal by a full pool / of a claim", Clients: 32, Measured: 1.1, Limit: 1, AtMost: true},
		{Name: "p95 of a release / of a claim", Clients: 32, Measured: 1, Limit: 1, AtMost: true, Reached: true},
		{Name: "errors, doubles, cut off and broken cells of Carve", Measured: 1, AtMost: true},
	}, goals)
}

func TestGoalsWithoutTheirCellsAreNotMentioned(t *testing.T) {
	t.Parallel()
	require.Empty(t, goalsOf([]*result{{Contestant: "INSERT", Kind: kindFloor, Clients: 32, Rate: 1000}}))
	require.Empty(t, goalTable(nil))
	broken := goalsOf([]*result{
		{Contestant: "INSERT", Kind: kindFloor, Clients: 32, Rate: 1000},
		{Contestant: "Carve, in process", Kind: kindCarve, Clients: 32, Rate: 3000, Broken: "an address twice"},
	})
	require.Len(t, broken, 1, "what handed out wrongly is not compared")
	require.False(t, broken[0].Reached)
}

// A goal about a contestant that was renamed, or never measured so, would silently be left out of each report.
func TestEachGoalIsOfCellsThatAreMeasured(t *testing.T) {
	t.Parallel()
	measured := map[string]bool{}
	var results []*result
	for _, c := range plan(options{only: everything}) {
		results = append(results, &result{Contestant: c.contestant.name, Kind: c.contestant.kind, Task: c.contestant.task, Clients: c.clients, Held: c.held, Rate: 1, P95: 1})
	}
	for _, g := range goalsOf(results) {
		measured[g.Name] = true
	}
	for _, w := range wanted {
		require.True(t, measured[w.name], w.name)
	}
}

func TestGoalTableSaysWhatWasWanted(t *testing.T) {
	t.Parallel()
	require.Equal(t, `
Goals that this run decides:

| goal | clients | measured | wanted | reached |
|------|--------:|---------:|-------:|--------:|
| a    |      32 |     1.44 |  ≥ 1.5 |      no |
| b    |         |     0.00 |    ≤ 0 |     yes |
`, goalTable([]goal{{Name: "a", Clients: 32, Measured: 1.44, Limit: 1.5}, {Name: "b", AtMost: true, Reached: true}}))
}
