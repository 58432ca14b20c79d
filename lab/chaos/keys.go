package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// key is an API key with an expiry time.
type key struct {
	token   string
	expires time.Time
}

// Lifetimes of the two keys of a run. When the run is judged, the short one has expired and the long one has not, even by a slightly wrong clock.
const (
	shortKey = 10 * time.Second
	longKey  = 10 * time.Minute
)

func (run *run) makeKeys(ctx context.Context) error {
	for name, good := range map[string]time.Duration{"short": shortKey, "long": longKey} {
		k, err := run.makeKey(ctx, name, time.Now().Add(good))
		if err != nil {
			return err
		}
		run.keys = append(run.keys, k)
	}
	return nil
}

func (run *run) makeKey(ctx context.Context, name string, expires time.Time) (key, error) {
	a, err := run.post(ctx, at("api-keys"), obj{"metadata": obj{"name": name}, "spec": obj{"role": "viewer", "expiresAt": expires.UTC().Format(time.RFC3339Nano)}})
	if err != nil {
		return key{}, err
	}
	var made struct{ Token string }
	if err = json.Unmarshal(a.body, &made); err == nil && made.Token == "" {
		err = errors.New("the answer with the token was lost, and a repeat does not tell it")
	}
	return key{made.Token, expires}, err
}

// remake makes the project, deletes it and makes another project by the same name. Every server has seen a key of the first project. That key must
// open nothing in the second project.
func (run *run) remake(ctx context.Context) error {
	body := obj{"metadata": obj{"name": project}}
	if _, err := run.post(ctx, "/v1/projects", body); err != nil {
		return err
	}
	first, err := run.makeKey(ctx, "first", time.Now().Add(longKey))
	if err != nil {
		return err
	}
	reads := request{method: http.MethodGet, path: at("pools"), token: first.token}
	for _, r := range run.regions {
		switch a := run.persist(ctx, r, reads); a.meaning() {
		case succeeded:
		case refused:
			run.ledger.violated("keys", "", "a key that is good for long opens nothing at server %d: %d %s", r.index, a.status, a.body)
		default:
			return fmt.Errorf("reading with a new key: %d %s %w", a.status, a.body, errors.Join(a.err))
		}
	}
	// 404 means that an earlier attempt deleted it.
	if a := run.persist(ctx, run.right(), request{method: http.MethodDelete, path: at()}); a.meaning() != succeeded && a.code != ipam.CodeNotFound {
		return fmt.Errorf("deleting the project: %d %s %w", a.status, a.body, errors.Join(a.err))
	}
	if _, err := run.post(ctx, "/v1/projects", body); err != nil {
		return err
	}
	for _, r := range run.regions {
		if a := run.persist(ctx, r, reads); a.meaning() != refused {
			run.ledger.violated("keys", "", "a key of a project that is deleted opens the next one of this name at server %d: %d %s %v", r.index, a.status, a.body, a.err)
		}
	}
	return nil
}

// tryKeys sends each key to each server.
func (run *run) tryKeys(ctx context.Context) {
	for _, k := range run.keys {
		for _, r := range run.regions {
			before := time.Now()
			a := run.persist(ctx, r, request{method: http.MethodGet, path: "/v1/whoami", token: k.token})
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
