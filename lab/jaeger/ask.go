package jaeger

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"golang.org/x/sync/errgroup"
)

const caller = "00f067aa0ba902b7" // span id of the client, which is the parent in each trace

// furnish makes a project, a pool and one claim. So the claim that the program judges is not the server's first.
func (c *carve) furnish(ctx context.Context) error {
	if err := c.post(ctx, "", "/v1/projects", `{"metadata": {"name": "witness"}}`); err != nil {
		return err
	}
	if err := c.post(ctx, "", "/v1/projects/witness/pools", `{"metadata": {"name": "net"}, "spec": {"cidr": "10.0.0.0/16"}}`); err != nil {
		return err
	}
	return c.post(ctx, "", "/v1/projects/witness/claims", claimNamed("warm"))
}

func claimNamed(name string) string {
	return `{"metadata": {"name": "` + name + `"}, "spec": {"poolRef": {"name": "net"}, "prefixLength": 28}}`
}

// claim makes one claim, and then many at the same time. Each claim has its own trace. It returns the trace ids.
func (c *carve) claim(ctx context.Context, n int) ([]string, error) {
	traces := []string{fmt.Sprintf("%032x", 0xca00)}
	if err := c.post(ctx, traces[0], "/v1/projects/witness/claims", claimNamed("alone")); err != nil {
		return nil, err
	}
	var all errgroup.Group
	for i := range n {
		trace := fmt.Sprintf("%032x", 0xca01+i)
		traces = append(traces, trace)
		all.Go(func() error {
			return c.post(ctx, trace, "/v1/projects/witness/claims", claimNamed(fmt.Sprintf("claim-%d", i)))
		})
	}
	return traces, all.Wait()
}

func (c *carve) post(ctx context.Context, trace, path, body string) error {
	api := c.api
	if trace != "" {
		api.Header = http.Header{"Traceparent": {"00-" + trace + "-" + caller + "-01"}}
	}
	_, err := api.Do(ctx, http.MethodPost, path, body)
	return err
}

// fetch reads JSON from a URL.
func fetch(ctx context.Context, url string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	if w.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", url, w.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(w.Body).Decode(into)
}
