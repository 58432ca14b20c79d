package herd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// judgeLimit is the time within which lost consumers must expire after all faults have ended. It is long, because a server expires a consumer only
// after it has served for the consumer's time to live.
const judgeLimit = 5 * time.Minute

// Judge returns the faults that the herd found. It runs after all faults have ended, and first waits until the remaining consumers have ended.
func (h *Herd) Judge(ctx context.Context) ([]string, error) {
	if a, certain := h.insist(ctx, http.MethodDelete, consumer("keeper"), nil); !certain || !a.ok() {
		return nil, fmt.Errorf("ending the keeper: %d %s", a.Status, a.Body)
	}
	if err := h.gone(ctx); err != nil {
		return nil, err
	}
	for _, name := range h.lost {
		h.expired(ctx, name)
	}
	if err := h.releasedOnce(ctx); err != nil {
		return nil, err
	}
	verdict := h.history.Check(time.Minute)
	h.Tally["judged"] = verdict.Operations
	if verdict.Wrong() {
		h.violated("consumers: %v", verdict)
	}
	return h.wrong, nil
}

// gone waits until no claim exists. Then all consumers have left, ended or expired.
func (h *Herd) gone(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, judgeLimit)
	defer cancel()
	left := Answer{}
	for ctx.Err() == nil {
		a := h.ask(ctx, http.MethodGet, at("claims?limit=500"), nil)
		var page struct{ Items []json.RawMessage }
		if a.ok() && json.Unmarshal(a.Body, &page) == nil && len(page.Items) == 0 {
			return nil
		}
		left = a
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	h.violated("claims are left whose consumers are gone: %d %s", left.Status, left.Body)
	return nil
}

// expired checks that an abandoned consumer has expired, but not too early.
func (h *Herd) expired(ctx context.Context, uid string) {
	a, _ := h.insist(ctx, http.MethodGet, consumer(uid), nil)
	var c struct {
		Status struct {
			Phase, Reason      string
			RenewedAt, EndedAt time.Time
		}
	}
	switch err := json.Unmarshal(a.Body, &c); {
	case err != nil || !a.ok() || c.Status.Phase != "Ended" || c.Status.Reason != string(ipam.ReasonExpired):
		h.violated("%s was left to expire: %d %s", uid, a.Status, a.Body)
	case c.Status.EndedAt.Sub(c.Status.RenewedAt) < ttl:
		h.violated("%s was ended %v after it was renewed last", uid, c.Status.EndedAt.Sub(c.Status.RenewedAt))
	default:
		h.count("expired")
	}
}

// releasedOnce checks the audit trail. The creations and releases of each claim must alternate and be equal in number.
func (h *Herd) releasedOnce(ctx context.Context) error {
	type event struct {
		Resource      struct{ Kind, Name string }
		Outcome       string
		Before, After json.RawMessage
	}
	var all []event // newest first
	for cursor := ""; ; {
		a, certain := h.insist(ctx, http.MethodGet, at("audit-events?limit=500"+cursor), nil)
		var page struct {
			Items      []event
			NextCursor string
		}
		if !certain || !a.ok() {
			return fmt.Errorf("the trail: %d %s", a.Status, a.Body)
		}
		if err := json.Unmarshal(a.Body, &page); err != nil {
			return errors.Join(errors.New("the trail"), err)
		}
		all = append(all, page.Items...)
		if page.NextCursor == "" {
			break
		}
		cursor = "&cursor=" + url.QueryEscape(page.NextCursor)
	}
	is := func(text json.RawMessage) bool { return len(text) > 0 && string(text) != "null" }
	made, released := map[string]int{}, map[string]int{}
	for _, e := range all {
		if e.Resource.Kind != "IPClaim" || e.Outcome != "ok" {
			continue
		}
		switch name := e.Resource.Name; {
		case !is(e.Before) && is(e.After):
			made[name]++
		case is(e.Before) && !is(e.After):
			released[name]++
			h.count("released")
		}
	}
	for name, n := range made {
		if released[name] != n {
			h.violated("%s was made %d times, and released %d times", name, n, released[name])
		}
	}
	for name, n := range released {
		if made[name] == 0 {
			h.violated("%s was released %d times, and never made", name, n)
		}
	}
	return nil
}
