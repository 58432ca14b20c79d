package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// Off selects the server with a wrong clock.
type Off struct {
	Region int
	Ahead  time.Duration // error of the clock at the beginning; Step events change it later
}

// astray is the error of a wrong clock, ahead or behind.
const astray = 20 * time.Minute

// clocks chooses the server with the wrong clock. Its clock is ahead, is behind, or jumps between the two during the run.
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
		for _, part := range []int{2, 4, 6} { // eighths of the run at which the clock jumps
			p.Events = append(p.Events, Event{At: all*part/8 + r.IntN(max(1, all/8)), Disaster: Step, Region: p.Off.Region, For: ahead})
			ahead = -ahead
		}
	}
}

// isOff reports whether the clock of a region's server is wrong.
func (p *Plan) isOff(region int) bool { return p.Weather.Clocks && p.Off.Region == region }

// right returns a region whose server has a right clock.
func (run *run) right() *region {
	for _, r := range run.regions {
		if !run.plan.isOff(r.index) {
			return r
		}
	}
	return run.regions[0]
}

// tells checks that the clock of each server is right or wrong as planned. It reads the clock from the Date header of a response. If a wrong clock
// had no effect, the run would test nothing.
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
		date = date.Add(-ahead) // the Date header has no fractions of a second
		if date.Before(before.Add(-time.Second)) || date.After(time.Now()) {
			return fmt.Errorf("server %d says that it is %v, with a clock that is ahead %v of %v", r.index, date.Add(ahead), ahead, before)
		}
	}
	return nil
}
