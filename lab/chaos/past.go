package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"time"
)

// past compares the service's records of the past with the responses to clients, by the clients' clock. It skips a run with a restore, because a
// restore changes the records.
func (run *run) past(ctx context.Context, res *Result) error {
	if run.plan.Weather.Restore {
		return nil
	}
	all := slices.DeleteFunc(run.ledger.all(), func(e entry) bool { return e.uid == "" })
	if err := run.history(ctx, all, res); err != nil {
		return err
	}
	return run.trail(ctx, all, res)
}

// stamp is the largest difference between a database timestamp and the clients' clock. Both read the same clock, but the timestamp is rounded.
const stamp = 5 * time.Millisecond

// within reports whether a timestamp lies between two times.
func within(at, from, to time.Time) bool {
	return !at.Before(from.Add(-stamp)) && (to.IsZero() || !at.After(to.Add(stamp)))
}

// hold is one holder in the history of an address.
type hold struct {
	AllocatedCIDR netip.Prefix
	PoolRef       struct{ Name string }
	ClaimRef      struct{ Name string }
	ChildPoolRef  struct{ Name string }
	Since, Until  time.Time
}

func (h hold) holder() string { return h.ClaimRef.Name + h.ChildPoolRef.Name }

func (h hold) String() string {
	return fmt.Sprintf("%s %v %v to %v", h.holder(), h.AllocatedCIDR, h.Since.Format(time.StampMicro), h.Until.Format(time.StampMicro))
}

// addresses is the number of addresses whose history a run checks.
const addresses = 48

// history checks the history of some addresses.
func (run *run) history(ctx context.Context, all []entry, res *Result) error {
	var asked []netip.Addr
	for _, e := range all {
		if !slices.Contains(asked, e.block.Addr()) {
			asked = append(asked, e.block.Addr())
		}
	}
	for i, address := range asked {
		if i%(1+len(asked)/addresses) > 0 {
			continue
		}
		holds, err := every[hold](ctx, run, i, "history", url.Values{"address": {address.String()}})
		if err != nil {
			return err
		}
		res.Tally["history: holds"] += len(holds)
		run.inOrder(address, holds)
		run.asSeen(address, holds, all)
	}
	return nil
}

// inOrder checks an address's history for contradictions. The present holder must come first, then the previous holders, newest first. Two holders
// from one pool must never overlap in time.
func (run *run) inOrder(address netip.Addr, holds []hold) {
	now, next := time.Now(), map[string]hold{}
	for i, h := range holds {
		wrong := func(format string, args ...any) {
			run.ledger.violated("history", address.String(), format+"\n%v", append(args, holds)...)
		}
		ended := !h.Until.IsZero()
		switch {
		case h.Since.After(now) || h.Until.After(now):
			wrong("%v is in the future", h)
		case ended && !h.Since.Before(h.Until):
			wrong("%v has no length", h)
		case i > 0 && !holds[i-1].Until.IsZero() && (!ended || h.Until.After(holds[i-1].Until)):
			wrong("%v comes after %v", h, holds[i-1])
		}
		if later, is := next[h.PoolRef.Name]; is && (!ended || h.Until.After(later.Since)) {
			wrong("%v and %v are of one pool, and at once", h, later)
		}
		next[h.PoolRef.Name] = h
	}
}

// asSeen compares an address's history with the responses to the clients that held it.
func (run *run) asSeen(address netip.Addr, holds []hold, all []entry) {
	for _, e := range all {
		if !e.block.Contains(address) {
			continue
		}
		at := slices.IndexFunc(holds, func(h hold) bool { return h.holder() == e.name && h.AllocatedCIDR == e.block })
		switch {
		case at < 0:
			run.ledger.violated("history", e.label(), "held %v, and is not in the history of %v: %v", e.block, address, holds)
		case !within(holds[at].Since, e.when.asked, e.when.told):
			run.ledger.violated("history", e.label(), "was asked for at %v, and was there at %v; the history says %v", e.when.asked, e.when.told, holds[at])
		case e.state == isReleased && !within(holds[at].Until, e.when.givenUp, e.when.gone):
			run.ledger.violated("history", e.label(), "was given up at %v, and was gone at %v; the history says %v", e.when.givenUp, e.when.gone, holds[at])
		}
	}
}

// event is one record of the audit trail.
type event struct {
	At        time.Time
	Operation string
	Resource  struct{ Name string }
}

// makes and ends are the trail's operation names for the requests that make and release the clients' objects.
var (
	makes = []string{"createClaim", "putClaim", "createClaims", "createClaimBatch", "createPool"}
	ends  = []string{"deleteClaim", "deletePool"}
)

// trail reads the audit trail of the second half of the run. The trail must contain every change, at the time at which a client saw it.
func (run *run) trail(ctx context.Context, all []entry, res *Result) error {
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b entry) int { return a.when.asked.Compare(b.when.asked) })
	since := all[len(all)/2].when.asked
	for i := range run.regions {
		events, err := every[event](ctx, run, i, "audit-events", url.Values{"since": {since.UTC().Format(time.RFC3339Nano)}})
		if err != nil {
			return err
		}
		res.Tally["trail: events"] += len(events)
		found := map[string]event{}
		for i, e := range events {
			switch {
			case slices.Contains(makes, e.Operation):
				found["made "+e.Resource.Name] = e
			case slices.Contains(ends, e.Operation):
				found["ended "+e.Resource.Name] = e
			}
			if e.At.Before(since.Truncate(time.Microsecond)) || e.At.After(time.Now()) {
				run.ledger.violated("trail", e.Resource.Name, "%s at %v is among what happened since %v", e.Operation, e.At, since)
			}
			if i > 0 && e.At.After(events[i-1].At.Add(stamp)) {
				run.ledger.violated("trail", e.Resource.Name, "%s at %v comes after %s of %s at %v, and the newest is to come first",
					e.Operation, e.At, events[i-1].Operation, events[i-1].Resource.Name, events[i-1].At)
			}
		}
		for _, e := range all {
			for what, between := range map[string][2]time.Time{"made ": {e.when.asked, e.when.told}, "ended ": {e.when.givenUp, e.when.gone}} {
				if between[0].Before(since) || what == "ended " && e.state != isReleased {
					continue
				}
				if got, is := found[what+e.name]; !is || !within(got.At, between[0], between[1]) {
					run.ledger.violated("trail", e.label(), "%sbetween %v and %v; of that the trail since %v, asked of server %d, has %v", what, between[0], between[1], since, i, got)
				}
			}
		}
	}
	return nil
}

// every reads all pages of a list.
func every[T any](ctx context.Context, run *run, server int, what string, query url.Values) ([]T, error) {
	var all []T
	query.Set("limit", "500")
	for {
		a := run.read(ctx, run.regions[server%len(run.regions)], at(what)+"?"+query.Encode())
		if a.meaning() != succeeded {
			return nil, fmt.Errorf("GET %s?%s: %d %s %w", what, query.Encode(), a.status, a.body, errors.Join(a.err))
		}
		var page struct {
			Items      []T
			NextCursor string
		}
		if err := json.Unmarshal(a.body, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.NextCursor == "" {
			return all, nil
		}
		query.Set("cursor", page.NextCursor)
	}
}
