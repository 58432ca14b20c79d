// Package health answers probes.
package health

import (
	"encoding/json"
	"net/http"

	"github.com/carve-ipam/carve/controller/internal/telemetry"
)

// Report is the answer of /readyz.
type Report struct {
	// Ready says that the controller can work, or stand by.
	Ready bool `json:"ready"`
	// Leads says that it is this replica that works.
	Leads bool `json:"leads"`
	// Carve is what the last call to Carve has shown.
	Carve telemetry.Reach `json:"carve"`
	// Message is what is wrong, for people.
	Message string `json:"message,omitempty"`
}

// Checks are what is asked for an answer.
type Checks struct {
	// Started is closed when what the API server has was read.
	Started <-chan struct{}
	// Leads is closed when this replica leads.
	Leads <-chan struct{}
	// Carve says whether Carve can be reached.
	Carve func() telemetry.Reach
}

// Handler serves /healthz, by which a process is to be started anew that serves no more, and /readyz, which says what is wrong. A controller is ready
// also while Carve is away: there is nobody else who could do better, and nothing is freed meanwhile.
func (c Checks) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		report := c.report()
		status := http.StatusOK
		if !report.Ready {
			status = http.StatusServiceUnavailable
		}
		answer(w, status, report)
	})
	return mux
}

func (c Checks) report() Report {
	r := Report{Ready: closed(c.Started), Leads: closed(c.Leads), Carve: c.Carve()}
	switch {
	case !r.Ready:
		r.Message = "what the API server has is being read"
	case r.Carve.Asked && !r.Carve.Reachable:
		r.Message = "Carve cannot be reached: no block is given out, and none is freed, until it can"
	}
	return r
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // who has gone is not told
}
