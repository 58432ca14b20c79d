package audit

import (
	"slices"
	"strings"
)

// Invariant is one property that an audit checks.
type Invariant struct {
	Name  string // name that findings use
	Holds string // the property, as a sentence without its full stop
}

// Invariants returns the invariants that [Run] checks, sorted by name.
func Invariants() []Invariant {
	out := make([]Invariant, 0, len(invariants)+2)
	for _, name := range invariants {
		first, _, _ := strings.Cut(statement(name), "\n")
		out = append(out, Invariant{name, strings.TrimPrefix(first, "-- purpose: ")})
	}
	out = append(out, // these two are read with SQL and compared in Go
		Invariant{"fences", "every container has a fence in each of its regions, and only containers and projects have fences; the stock of a fence counts the free and the cooling blocks there"},
		Invariant{"reservations", "a pool holds exactly the blocks of the reservations in its spec"},
	)
	slices.SortFunc(out, func(a, b Invariant) int { return strings.Compare(a.Name, b.Name) })
	return out
}
