package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

const (
	// tenants is how many callers there are: no one of them may have more than half of the places.
	tenants  = 4
	maxPools = 16
)

// furnish makes pools that everybody may claim from, and tenants with a key each.
func (s *server) furnish(ctx context.Context, admin string) error {
	for i := range s.pools {
		cidr := "10.0.0.0/8"
		if s.pools > 1 {
			cidr = fmt.Sprintf("10.%d.0.0/12", i<<4)
		}
		if _, err := s.call(ctx, admin, http.MethodPost, "/v1/projects/platform/pools",
			fmt.Sprintf(`{"metadata":{"name":"pool-%d"},"spec":{"cidr":%q,"visibility":"shared","allocation":{"strategy":"FirstFit"}}}`, i, cidr)); err != nil {
			return err
		}
		if _, err := s.call(ctx, admin, http.MethodPut, fmt.Sprintf("/v1/projects/platform/pools/pool-%d/grants/*", i), ""); err != nil {
			return err
		}
	}
	for i := range tenants {
		name := fmt.Sprintf("team-%d", i)
		if _, err := s.call(ctx, admin, http.MethodPost, "/v1/projects", fmt.Sprintf(`{"metadata":{"name":%q}}`, name)); err != nil {
			return err
		}
		answer, err := s.call(ctx, admin, http.MethodPost, "/v1/projects/"+name+"/api-keys", `{"metadata":{"name":"load"},"spec":{"role":"consumer"}}`)
		if err != nil {
			return err
		}
		var key struct{ Token string }
		if err := json.Unmarshal(answer, &key); err != nil {
			return err
		}
		s.asks = append(s.asks, fmt.Sprintf("POST /v1/projects/%s/claims HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: ", name, s.addr, key.Token))
	}
	return nil
}

// call makes one request of the preparations.
func (s *server) call(ctx context.Context, key, method, path, body string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+s.addr+path, bytes.NewReader([]byte(body))) //nolint:gosec // G704: the server that was just started
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w, err := http.DefaultClient.Do(r) //nolint:gosec // G704: likewise
	if err != nil {
		return nil, err
	}
	defer w.Body.Close()
	answer, err := io.ReadAll(w.Body)
	if err == nil && w.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: %d %s", method, path, w.StatusCode, answer)
	}
	return answer, err
}

// refused is what the server counted as shed, by reason.
func (s *server) refused(ctx context.Context) (map[string]int, error) {
	text, err := s.call(ctx, "", http.MethodGet, "/metrics", "")
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, `carve_requests_shed_total{reason="`)
		reason, count, found := strings.Cut(rest, `"} `)
		if !ok || !found {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(count), 64) // Prometheus writes large counts like 1e+06
		if err != nil {
			return nil, err
		}
		out[reason] = int(n)
	}
	return out, nil
}
