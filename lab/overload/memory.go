package overload

import (
	"context"
	"fmt"
	"sync"

	"github.com/carve-ipam/carve/lab/procstat"
)

// memory is the resident memory of the server's process in one situation.
type memory struct {
	What  string `json:"what"`
	Bytes int64  `json:"bytes"`
}

func (m memory) line() string { return fmt.Sprintf("%-52s %8.1f MB", m.What, float64(m.Bytes)/1e6) }

// measureIdle reads the memory of a newly started server. It then opens idle connections, uses each once, and reads the memory again.
func measureIdle(ctx context.Context, s *server, o options) ([]memory, error) {
	now, _, err := procstat.Memory(s.pid)
	if err != nil {
		return nil, err
	}
	list := []memory{{"started, nothing asked yet", now}}
	if o.idle == 0 {
		return list, nil
	}
	kept, err := s.keep(ctx, o, o.idle)
	defer closeAll(kept)
	if err != nil {
		return nil, err
	}
	if now, _, err = procstat.Memory(s.pid); err != nil {
		return nil, err
	}
	return append(list, memory{fmt.Sprintf("%d idle connections, each was used once", o.idle), now}), nil
}

// measureActive reads the largest memory of the server while some connections claim without a pause. It then reads the memory when they are idle
// again.
func measureActive(ctx context.Context, s *server, o options) ([]memory, error) {
	if o.active == 0 {
		return nil, nil
	}
	before, _, err := procstat.Memory(s.pid)
	if err != nil {
		return nil, err
	}
	if err := procstat.Forget(s.pid); err != nil {
		return nil, err
	}
	var running sync.WaitGroup
	var r result
	running.Go(func() { r, err = hurry(ctx, s, o, o.active, o.time) })
	running.Wait()
	if err != nil {
		return nil, err
	}
	_, peak, err := procstat.Memory(s.pid)
	if err != nil {
		return nil, err
	}
	return []memory{
		{"after the closed loop", before},
		{fmt.Sprintf("%d active connections, at most (%.0f/s served, %d shed)", o.active, r.Goodput, r.Shed), peak},
	}, nil
}
