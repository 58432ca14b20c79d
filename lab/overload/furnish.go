package overload

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/claims"
)

const (
	// tenants is the number of callers. One caller may have at most half of the server's slots, so the load needs several callers.
	tenants  = 4
	maxPools = 16
)

// furnish makes the pools, which all tenants may use, and the tenants with one key each.
func (s *server) furnish(ctx context.Context, o options) error {
	for i := range s.pools {
		cidr := "10.0.0.0/8"
		if s.pools > 1 {
			cidr = fmt.Sprintf("10.%d.0.0/12", i<<4)
		}
		if _, err := s.api.Do(ctx, http.MethodPost, "/v1/projects/platform/pools",
			fmt.Sprintf(`{"metadata":{"name":"pool-%d"},"spec":{"cidr":%q,"visibility":"shared","allocation":{"strategy":"FirstFit"}}}`, i, cidr)); err != nil {
			return err
		}
		if _, err := s.api.Do(ctx, http.MethodPut, fmt.Sprintf("/v1/projects/platform/pools/pool-%d/grants/*", i), ""); err != nil {
			return err
		}
	}
	for i := range tenants {
		name := fmt.Sprintf("team-%d", i)
		if _, err := s.api.Do(ctx, http.MethodPost, "/v1/projects", fmt.Sprintf(`{"metadata":{"name":%q}}`, name)); err != nil {
			return err
		}
		key, err := s.api.MakeKey(ctx, name, "load")
		if err != nil {
			return err
		}
		if s.reads {
			if err := s.fill(ctx, name, o.lists); err != nil {
				return err
			}
			for _, list := range []string{"claims?", "claims?pool=platform/pool-0&", "allocations?"} {
				s.asks = append(s.asks, fmt.Sprintf("GET /v1/projects/%s/%slimit=%d HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: ", name, list, o.page, s.addr, key))
			}
			continue
		}
		s.asks = append(s.asks, fmt.Sprintf("POST /v1/projects/%s/claims HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: ", name, s.addr, key))
	}
	return nil
}

// fill makes n claims in a tenant's project.
func (s *server) fill(ctx context.Context, project string, n int) error {
	for from := 0; from < n; from += claims.MaxBatch {
		batch := make([]string, min(claims.MaxBatch, n-from))
		for i := range batch {
			_, batch[i] = s.claim()
		}
		if _, err := s.api.Do(ctx, http.MethodPost, "/v1/projects/"+project+"/claim-batches", `{"claims":[`+strings.Join(batch, ",")+`]}`); err != nil {
			return err
		}
	}
	return nil
}

// refused returns how many requests the server has shed, by reason.
func (s *server) refused(ctx context.Context) (map[string]int, error) {
	text, err := s.api.Do(ctx, http.MethodGet, "/metrics", "")
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
		n, err := strconv.ParseFloat(strings.TrimSpace(count), 64) // Prometheus writes large counts in the form 1e+06
		if err != nil {
			return nil, err
		}
		out[reason] = int(n)
	}
	return out, nil
}
