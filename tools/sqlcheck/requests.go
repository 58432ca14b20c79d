package sqlcheck

import (
	"encoding/json"
	"strings"
)

// A request has the recorded statements of one HTTP request, or of one job of the server. The records are in
// internal/crdb/testdata/transactions.json.
type request struct {
	Request  string    `json:"request"`
	Attempts []attempt `json:"attempts"`
}

// An attempt is one read, or one transaction, with the statements in each round trip.
type attempt struct {
	Op    string     `json:"op"`
	Trips [][]string `json:"trips"`
}

func readRequests(text []byte) (requests []request, err error) {
	err = json.Unmarshal(text, &requests)
	for _, r := range requests {
		for _, a := range r.Attempts {
			for i, trip := range a.Trips {
				a.Trips[i] = strings.Split(strings.Join(trip, together), together)
			}
		}
	}
	return requests, err
}

// together separates the names of merged statements.
const together = "+"
