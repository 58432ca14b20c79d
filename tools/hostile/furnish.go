package main

import (
	"context"
	"fmt"
	"net/http"
)

// furnish makes two projects: that of the load, which has a pool, and that of the attacker, who has several keys.
func (s *server) furnish(ctx context.Context) error {
	for _, name := range []string{"good", "bad"} {
		if _, err := s.api.Do(ctx, http.MethodPost, "/v1/projects", fmt.Sprintf(`{"metadata":{"name":%q}}`, name)); err != nil {
			return err
		}
	}
	for i := range 3 { // each may have half of the places
		key, err := s.api.MakeKey(ctx, "bad", fmt.Sprintf("attack-%d", i))
		if err != nil {
			return err
		}
		s.bad = append(s.bad, key)
	}
	if _, err := s.api.Do(ctx, http.MethodPost, "/v1/projects/good/pools", `{"metadata":{"name":"pool"},"spec":{"cidr":"10.0.0.0/8"}}`); err != nil {
		return err
	}
	good, err := s.api.MakeKey(ctx, "good", "load")
	s.api.Key = good // from here on they are the load's requests
	return err
}
