package jaeger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// span is a span in Jaeger's format.
type span struct {
	TraceID       string `json:"traceID"`
	SpanID        string `json:"spanID"`
	OperationName string `json:"operationName"`
	StartTime     int64  `json:"startTime"`
	Duration      int64  `json:"duration"` // µs
	References    []struct {
		RefType string `json:"refType"`
		TraceID string `json:"traceID"`
		SpanID  string `json:"spanID"`
	} `json:"references"`
	Tags []struct {
		Key   string `json:"key"`
		Value any    `json:"value"`
	} `json:"tags"`
}

func (s span) parent() string {
	for _, r := range s.References {
		if r.RefType == "CHILD_OF" && strings.TrimLeft(r.TraceID, "0") == strings.TrimLeft(s.TraceID, "0") {
			return r.SpanID
		}
	}
	return ""
}

func (s span) links() (n int) {
	for _, r := range s.References {
		if r.RefType == "FOLLOWS_FROM" {
			n++
		}
	}
	return n
}

func (s span) tag(key string) any {
	for _, t := range s.Tags {
		if t.Key == key {
			return t.Value
		}
	}
	return nil
}

func (j *jaeger) trace(ctx context.Context, id string) (spans []span, err error) {
	var answer struct {
		Data []struct {
			Spans []span `json:"spans"`
		} `json:"data"`
	}
	if err := fetch(ctx, j.query+"/api/traces/"+strings.TrimLeft(id, "0"), &answer); err != nil {
		return nil, err
	}
	for _, t := range answer.Data {
		spans = append(spans, t.Spans...)
	}
	slices.SortStableFunc(spans, func(a, b span) int { return int(a.StartTime - b.StartTime) })
	return spans, nil
}

// judge checks that the traces match docs/telemetry.md.
func (j *jaeger) judge(ctx context.Context, traces []string) error {
	var services struct {
		Data []string `json:"data"`
	}
	if err := fetch(ctx, j.query+"/api/services", &services); err != nil {
		return err
	}
	if !slices.Contains(services.Data, "carve") {
		return fmt.Errorf("the witness knows the services %q, and not carve", services.Data)
	}
	alone, err := j.trace(ctx, traces[0])
	if err != nil {
		return err
	}
	say("one claim alone:\n")
	show(alone, caller, 1)
	errs := []error{whole(alone)}
	linked, grouped, largest := 0, 0, 0.0
	for _, id := range traces[1:] {
		spans, err := j.trace(ctx, id)
		if err != nil {
			return err
		}
		for _, s := range spans {
			if s.OperationName != "use_case createClaim" {
				continue
			}
			size, _ := s.tag("carve.batch.size").(float64)
			largest = max(largest, size)
			if size > 1 {
				grouped++
			}
			linked += min(s.links(), 1)
		}
	}
	say("%d claims at once: %d in groups of up to %.0f, %d linked to a transaction in another's trace\n", len(traces)-1, grouped, largest, linked)
	if grouped == 0 || linked == 0 {
		errs = append(errs, errors.New("no claims were served together"))
	}
	return errors.Join(errs...)
}

// say prints to standard output.
func say(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, format, args...) }

func show(spans []span, parent string, depth int) {
	for _, s := range spans {
		if s.parent() == parent {
			say("%s%s  %d us\n", strings.Repeat("  ", depth), s.OperationName, s.Duration)
			show(spans, s.SpanID, depth+1)
		}
	}
}

// whole checks that one claim's trace has the expected spans.
func whole(spans []span) error {
	parent := caller
	for _, name := range []string{"createClaim", "use_case createClaim", "claim_group", "attempt claim_group", "hold_insert_one"} {
		i := slices.IndexFunc(spans, func(s span) bool { return s.OperationName == name })
		if i < 0 {
			return fmt.Errorf("the trace has no span %q", name)
		}
		if spans[i].parent() != parent {
			return fmt.Errorf("the parent of %q is %q, not %q", name, spans[i].parent(), parent)
		}
		parent = spans[i].SpanID
		for key, want := range map[string]map[string]any{
			"createClaim":          {"http.route": "/v1/projects/:project/claims", "span.kind": "server"},
			"use_case createClaim": {"carve.pool": "witness/net", "carve.prefix_length": 28.0, "carve.outcome": "bound", "carve.batch.size": 1.0, "carve.tx.attempts": 1.0},
			"attempt claim_group":  {"carve.tx.end": "committed"},
			"hold_insert_one":      {"db.system.name": "postgresql", "span.kind": "client"},
		}[name] {
			if got := spans[i].tag(key); got != want {
				return fmt.Errorf("%s of %q is %v, not %v", key, name, got, want)
			}
		}
	}
	return nil
}
