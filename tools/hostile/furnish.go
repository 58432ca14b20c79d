package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// furnish makes two projects: that of the load, which has a pool, and that of the attacker, who has several keys.
func (s *server) furnish(ctx context.Context, admin string) error {
	for _, name := range []string{"good", "bad"} {
		if _, err := s.call(ctx, admin, "/v1/projects", fmt.Sprintf(`{"metadata":{"name":%q}}`, name)); err != nil {
			return err
		}
	}
	good, err := s.key(ctx, admin, "good", "load")
	if err != nil {
		return err
	}
	s.good = good
	for i := range 3 { // each may have half of the places
		key, err := s.key(ctx, admin, "bad", fmt.Sprintf("attack-%d", i))
		if err != nil {
			return err
		}
		s.bad = append(s.bad, key)
	}
	_, err = s.call(ctx, admin, "/v1/projects/good/pools", `{"metadata":{"name":"pool"},"spec":{"cidr":"10.0.0.0/8"}}`)
	return err
}

// key makes an API key.
func (s *server) key(ctx context.Context, admin, project, name string) (string, error) {
	answer, err := s.call(ctx, admin, "/v1/projects/"+project+"/api-keys", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"role":"consumer"}}`, name))
	if err != nil {
		return "", err
	}
	var made struct{ Token string }
	err = json.Unmarshal(answer, &made)
	return made.Token, err
}

// call makes one request of the preparations.
func (s *server) call(ctx context.Context, key, path, body string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	w, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer w.Body.Close()
	answer, err := io.ReadAll(w.Body)
	if err == nil && w.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("POST %s: %d %s", path, w.StatusCode, answer)
	}
	return answer, err
}
