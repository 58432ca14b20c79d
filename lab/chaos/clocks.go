package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// Off is a server whose clock is off.
type Off struct {
	Region int
	Ahead  time.Duration // at the beginning; Step events follow
}

// astray is how far a clock is off.
const astray = 20 * time.Minute

// clocks chooses the server whose clock is off, and how: ahead, behind, or stepping from one to the other while it runs.
func (p *Plan) clocks(r *rand.Rand) {
	p.Off.Region = r.IntN(len(p.Regions))
	switch r.IntN(3) {
	case 0:
		p.Off.Ahead = astray
	case 1:
		p.Off.Ahead = -astray
	default:
		ahead := astray
		if r.IntN(2) == 0 {
			ahead = -astray
		}
		all := p.Clients * p.Operations
		for _, part := range []int{2, 4, 6} { // of eight
			p.Events = append(p.Events, Event{At: all*part/8 + r.IntN(max(1, all/8)), Disaster: Step, Region: p.Off.Region, For: ahead})
			ahead = -ahead
		}
	}
}

// isOff reports whether a region's server is the one whose clock is off.
func (p *Plan) isOff(region int) bool { return p.Weather.Clocks && p.Off.Region == region }

// right is a region whose server's clock is right.
func (run *run) right() *region {
	for _, r := range run.regions {
		if !run.plan.isOff(r.index) {
			return r
		}
	}
	return run.regions[0]
}

// tells makes sure that a server's clock is off as it is meant to be, and that the others' are not: the date of an answer has it. A suite whose clocks
// were all right would prove nothing.
func (run *run) tells(ctx context.Context) error {
	for _, r := range run.regions {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+*r.addr.Load()+"/healthz", nil)
		if err != nil {
			return err
		}
		before := time.Now()
		resp, err := run.caller.http.Do(req)
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		date, err := http.ParseTime(resp.Header.Get("Date"))
		if err != nil {
			return err
		}
		ahead := time.Duration(0)
		if r.clock != nil {
			ahead = r.clock.Ahead()
		}
		date = date.Add(-ahead) // a date has no fractions of a second
		if date.Before(before.Add(-time.Second)) || date.After(time.Now()) {
			return fmt.Errorf("server %d says that it is %v, with a clock that is ahead %v of %v", r.index, date.Add(ahead), ahead, before)
		}
	}
	return nil
}
