package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// key is an API key that expires.
type key struct {
	token   string
	expires time.Time
}

// How long the two keys of a run are good: the one is refused when the run is judged, the other is not, whatever a clock says that is not far off.
const (
	shortKey = 2 * time.Second
	longKey  = 10 * time.Minute
)

// makeKeys makes the keys, at a server whose clock is right.
func (run *run) makeKeys(ctx context.Context) error {
	for name, good := range map[string]time.Duration{"short": shortKey, "long": longKey} {
		k := key{expires: time.Now().Add(good)}
		body := obj{"metadata": obj{"name": name}, "spec": obj{"role": "viewer", "expiresAt": k.expires.UTC().Format(time.RFC3339Nano)}}
		a := run.caller.do(ctx, run.right(), request{method: http.MethodPost, path: at("api-keys"), body: body, patience: 10 * time.Second})
		if a.meaning() != succeeded {
			return fmt.Errorf("making a key: %d %s %w", a.status, a.body, errors.Join(a.err))
		}
		var made struct{ Token string }
		if err := json.Unmarshal(a.body, &made); err != nil {
			return err
		}
		k.token = made.Token
		run.keys = append(run.keys, k)
	}
	return nil
}

// tryKeys shows each key to each server.
func (run *run) tryKeys(ctx context.Context) {
	for _, k := range run.keys {
		for _, r := range run.regions {
			before := time.Now()
			a := run.caller.do(ctx, r, request{method: http.MethodGet, path: "/v1/whoami", token: k.token, patience: 10 * time.Second})
			switch {
			case a.status == http.StatusOK && before.After(k.expires):
				run.ledger.violated("keys", "", "a key that expired %v ago is taken by server %d", before.Sub(k.expires), r.index)
			case a.status == http.StatusUnauthorized && time.Now().Before(k.expires):
				run.ledger.violated("keys", "", "a key that expires in %v is refused by server %d: %s", time.Until(k.expires), r.index, a.body)
			case a.status != http.StatusOK && a.status != http.StatusUnauthorized:
				run.ledger.violated("keys", "", "server %d answers neither yes nor no to a key: %d %s %v", r.index, a.status, a.body, a.err)
			}
		}
	}
}
