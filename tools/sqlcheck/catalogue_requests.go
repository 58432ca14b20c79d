package sqlcheck

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A request is what a request, or a job of the server, was recorded to send: internal/crdb/testdata/transactions.json.
type request struct {
	Request  string    `json:"request"`
	Attempts []attempt `json:"attempts"`
}

// An attempt is one read, or one transaction, with the statements of each of its round trips.
type attempt struct {
	Op    string     `json:"op"`
	Trips [][]string `json:"trips"`
}

func readRequests(text []byte) (requests []request, err error) {
	err = json.Unmarshal(text, &requests)
	return requests, err
}

// Transaction tells a transaction from a read.
func (a attempt) transaction() bool {
	return len(a.Trips) > 0 && strings.HasPrefix(a.Trips[0][0], "begin")
}

// UsedIn answers where each statement was seen: the transactions by name, or that it is read by itself.
func usedIn(requests []request) map[string][]string {
	seen := map[string]map[string]bool{}
	for _, r := range requests {
		for _, a := range r.Attempts {
			place := "read by itself"
			if a.transaction() {
				place = "`" + a.Op + "`"
			}
			for _, name := range slices.Concat(a.Trips...) {
				if seen[name] == nil {
					seen[name] = map[string]bool{}
				}
				seen[name][place] = true
			}
		}
	}
	used := map[string][]string{}
	for name, places := range seen {
		used[name] = slices.Sorted(maps.Keys(places))
	}
	return used
}

// Trips is how many round trips a request makes in all.
func (r request) trips() (n int) {
	for _, a := range r.Attempts {
		n += len(a.Trips)
	}
	return n
}

// Before are the reads of a request, with how many round trips they make; a read is called by its statement.
func (r request) reads() string {
	var names []string
	for _, a := range r.Attempts {
		if !a.transaction() {
			names = append(names, strings.Join(slices.Concat(a.Trips...), " + "))
		}
	}
	return strings.Join(names, ", ")
}

// Transactions are those of a request, with the statements of each round trip.
func (r request) transactions() string {
	var all []string
	for _, a := range r.Attempts {
		if !a.transaction() {
			continue
		}
		var trips []string
		for _, t := range a.Trips {
			trips = append(trips, strings.Join(plain(t), " + "))
		}
		all = append(all, fmt.Sprintf("%#q %d: %s", a.Op, len(a.Trips), strings.Join(trips, " / ")))
	}
	return strings.Join(all, "<br>")
}

// Plain says once what is sent several times in a row, and begin without its level.
func plain(trip []string) (out []string) {
	for _, name := range trip {
		if strings.HasPrefix(name, "begin ") {
			name = "begin"
		}
		if len(out) == 0 || out[len(out)-1] != name {
			out = append(out, name)
		}
	}
	return out
}
