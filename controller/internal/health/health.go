// Package health serves the controller's probes.
package health

import (
	"encoding/json"
	"net/http"

	"github.com/carve-ipam/carve/controller/internal/telemetry"
)

// Report is the response body at /readyz.
type Report struct {
	// Ready means that the controller can work, or take over from the leader.
	Ready bool `json:"ready"`
	// Leads means that this replica is the leader.
	Leads bool `json:"leads"`
	// Carve is the result of the last call to Carve.
	Carve telemetry.Reach `json:"carve"`
	// Message describes the problem, for people.
	Message string `json:"message,omitempty"`
}

// Checks has the sources for a report.
type Checks struct {
	// Started is closed when the controller's cache is filled.
	Started <-chan struct{}
	// Leads is closed when this replica becomes the leader.
	Leads <-chan struct{}
	// Carve returns whether Carve is reachable.
	Carve func() telemetry.Reach
}

// Handler serves /healthz and /readyz. If /healthz fails, the process must be restarted. /readyz returns the report. While Carve is
// unreachable, the controller stays ready, because no other replica could do more. No block is released in that time.
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
		r.Message = "the controller is reading the objects from the API server"
	case r.Carve.Asked && !r.Carve.Reachable:
		r.Message = "Carve cannot be reached: no block is allocated or freed until it can"
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
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // the client may have disconnected
}
