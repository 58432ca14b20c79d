package overload

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/carve-ipam/carve/lab/latency"
	"github.com/carve-ipam/carve/lab/tool"
)

// report is a run's result.
type report struct {
	Machine    string   `json:"machine"`
	Flags      []string `json:"flags"`
	Saturation float64  `json:"saturation"` // requests per second that count as 1x
	Closed     result   `json:"closed"`     // result with clients in a closed loop, as many as in the measurement of the saturation
	Steps      []result `json:"steps"`
	Memory     []memory `json:"memory"`
	Audit      string   `json:"audit"`
}

// result is the outcome of the requests at one rate. All times in it are in milliseconds, unless a field has another unit.
type result struct {
	Times   float64        `json:"times"` // rate as a multiple of the saturation
	Offered float64        `json:"offered"`
	Goodput float64        `json:"goodput"`
	Served  int            `json:"served"`
	P50     float64        `json:"p50"`
	P99     float64        `json:"p99"`
	Shed    int            `json:"shed"`
	ShedP99 float64        `json:"shedP99"`
	Reasons map[string]int `json:"reasons,omitempty"` // reasons of the shed requests, as the server counts them
	Unsent  int            `json:"unsent"`            // requests that were not sent because all connections of the generator were busy
	Errors  int            `json:"errors"`
	AnError string         `json:"anError,omitempty"`
	Memory  int64          `json:"memory"` // resident bytes at the end

	// Processor time in seconds. ByAll is the number of served requests per second of the sum. ByBoth leaves the generator out.
	Server    float64 `json:"server"`
	Database  float64 `json:"database"`
	Generator float64 `json:"generator"`
	ByAll     float64 `json:"byAll"`
	ByBoth    float64 `json:"byBoth"`
}

func (r *result) processor(s spent) {
	r.Server, r.Database, r.Generator = s.server.Seconds(), s.database.Seconds(), s.generator.Seconds()
	if both := r.Server + r.Database; both > 0 {
		r.ByAll, r.ByBoth = float64(r.Served)/(both+r.Generator), float64(r.Served)/both
	}
}

func (r result) name() string { return fmt.Sprintf("%.2fx", r.Times) }

func aboutMachine() string {
	return fmt.Sprintf("%d cores, %s %s/%s; server, database and generator on the same cores", runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

const heading = "| offered | requests/s | served/s | p50 ms | p99 ms | shed (no place + pool + caller) | p99 of shed, ms | not sent | errors | served per processor second, all | without the generator | memory, MB |"

func (r result) line(name string) string {
	line := fmt.Sprintf("| %s | %.0f | %.0f | %.1f | %.1f | %d (%d + %d + %d) | %.1f | %d | %d | %.0f | %.0f | %.0f |",
		name, r.Offered, r.Goodput, r.P50, r.P99, r.Shed, r.Reasons["in_flight"], r.Reasons["pool"], r.Reasons["caller"], r.ShedP99, r.Unsent, r.Errors, r.ByAll, r.ByBoth, float64(r.Memory)/1e6)
	if r.AnError != "" {
		line += " " + r.AnError
	}
	return line
}

// write prints the tables and stores the complete report in a file.
func (r report) write(path string) error {
	var text strings.Builder
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(&text, format+"\n", args...) }
	say("%s\nsaturation: %.0f requests/s; audit: %s\n\n%s\n|%s", r.Machine, r.Saturation, r.Audit, heading, strings.Repeat("---:|", strings.Count(heading, "|")-1))
	say("%s", r.Closed.line("closed loop"))
	for _, step := range r.Steps {
		say("%s", step.line(step.name()))
	}
	say("\nresident memory of the server's process, without its database:")
	for _, m := range r.Memory {
		say("%s", m.line())
	}
	if _, err := os.Stdout.WriteString(text.String()); err != nil {
		return err
	}
	return tool.Save(path, r)
}

// milliseconds returns a percentile in milliseconds.
func milliseconds(times []time.Duration, percent int) float64 {
	return latency.Milliseconds(latency.Percentile(times, percent))
}
