package sqlcheck

import "encoding/json"

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
