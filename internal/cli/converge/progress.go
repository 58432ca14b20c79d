package converge

import (
	"fmt"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Progress shows how far an import or a mirror is, and its rate. On a terminal it updates one line. Otherwise it prints a line every ten seconds.
type Progress struct {
	mu         sync.Mutex
	to         *session.Program
	total      int
	done       int
	begun      time.Time
	reportedAt time.Time
}

// NewProgress starts to count. total is the expected number of objects.
func NewProgress(p *session.Program, total int) *Progress {
	return &Progress{to: p, total: total, begun: p.Clock(), reportedAt: p.Clock()}
}

// Add counts n more items that have an outcome.
func (p *Progress) Add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	if p.to.Watched && !p.to.Quiet {
		p.to.Progress("%s", p.line())
	}
	if now := p.to.Clock(); !p.to.Watched && !p.to.Quiet && now.Sub(p.reportedAt) >= 10*time.Second {
		p.reportedAt = now
		p.to.Aloud(p.line() + "\n")
	}
}

func (p *Progress) line() string {
	text := fmt.Sprintf("%d of %d (%d%%)", p.done, p.total, 100*p.done/max(p.total, 1))
	if rate := p.rate(); rate > 0 {
		text += fmt.Sprintf(", %.0f a second", rate)
		if p.done < p.total {
			text += fmt.Sprintf(", %s left", time.Duration(float64(p.total-p.done)/rate*float64(time.Second)).Round(time.Second))
		}
	}
	return text
}

func (p *Progress) rate() float64 {
	took := p.to.Clock().Sub(p.begun).Seconds()
	if took <= 0 {
		return 0
	}
	return float64(p.done) / took
}

// End removes the progress line and returns the summary.
func (p *Progress) End() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to.ProgressEnds()
	took := p.to.Clock().Sub(p.begun)
	if p.done == 0 || took <= 0 {
		return ""
	}
	if took < time.Second { // the time is too short to compute a rate
		return fmt.Sprintf("%s in %s", show.CountOf(p.done, "thing"), took.Round(time.Millisecond))
	}
	return fmt.Sprintf("%s in %s, %.0f a minute", show.CountOf(p.done, "thing"), took.Round(100*time.Millisecond), 60*p.rate())
}
