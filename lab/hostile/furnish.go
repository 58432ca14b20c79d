package hostile

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// furnish makes two projects. The load's project has two pools that other projects may use. The attacker's project has several keys.
func (s *server) furnish(ctx context.Context) error {
	for _, name := range []string{"good", "bad"} {
		if _, err := s.api.Do(ctx, http.MethodPost, "/v1/projects", fmt.Sprintf(`{"metadata":{"name":%q}}`, name)); err != nil {
			return err
		}
	}
	for i := range 3 { // several keys, because each key may use at most half of the slots for concurrent requests
		key, err := s.api.MakeKey(ctx, "bad", fmt.Sprintf("attack-%d", i))
		if err != nil {
			return err
		}
		s.bad = append(s.bad, key)
	}
	for _, pool := range []string{
		`{"metadata":{"name":"pool"},"spec":{"cidr":"10.0.0.0/8","visibility":"shared"}}`,
		`{"metadata":{"name":"random"},"spec":{"cidr":"11.0.0.0/8","visibility":"shared","allocation":{"strategy":"Random"}}}`,
	} {
		if _, err := s.api.Do(ctx, http.MethodPost, "/v1/projects/good/pools", pool); err != nil {
			return err
		}
	}
	for _, pool := range []string{"pool", "random"} {
		if _, err := s.api.Do(ctx, http.MethodPut, "/v1/projects/good/pools/"+pool+"/grants/bad", ""); err != nil {
			return err
		}
	}
	if err := s.fill(ctx); err != nil {
		return err
	}
	if err := s.fillLarge(ctx); err != nil {
		return err
	}
	good, err := s.api.MakeKey(ctx, "good", "load")
	s.api.Key = good // from here on, requests belong to the load
	return err
}

// fill makes many claims in the attacker's project, so that its lists are long.
func (s *server) fill(ctx context.Context) error {
	for n := range 6 {
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, `,{"metadata":{"name":"filler-%d-%d"},"spec":{"poolRef":{"project":"good","name":"pool"},"prefixLength":32}}`, n, i)
		}
		if _, err := s.api.Do(ctx, http.MethodPost, "/v1/projects/bad/claim-batches", `{"claims":[`+b.String()[1:]+`]}`); err != nil {
			return err
		}
		wait(ctx, 2*time.Second) // the attacker's rate limit applies here too
	}
	return nil
}
