package transfer

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// progress shows the progress and the rate of an import. On a terminal it updates one line. Otherwise it prints a line from time to time.
type progress struct {
	mu       sync.Mutex
	to       io.Writer
	now      func() time.Time
	quiet    bool
	terminal bool
	total    int
	done     int
	begun    time.Time
	said     time.Time
}

func newProgress(p *session.Program, total int) *progress {
	out := &progress{to: p.Aside, now: p.Clock, quiet: p.Quiet, total: total, begun: p.Clock(), said: p.Clock()}
	to := p.Aside
	if l, is := to.(*locked); is {
		to = l.to
	}
	if f, is := to.(*os.File); is {
		out.terminal = term.IsTerminal(int(f.Fd()))
	}
	return out
}

// add counts n more items that have an outcome.
func (p *progress) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	every := 10 * time.Second
	if p.terminal {
		every = 200 * time.Millisecond
	}
	if now := p.now(); !p.quiet && now.Sub(p.said) >= every {
		p.said = now
		end := "\n"
		if p.terminal {
			end = "\x1b[K\r"
		}
		_, _ = io.WriteString(p.to, p.line()+end)
	}
}

func (p *progress) line() string {
	text := fmt.Sprintf("%d of %d (%d%%)", p.done, p.total, 100*p.done/max(p.total, 1))
	if rate := p.rate(); rate > 0 {
		text += fmt.Sprintf(", %.0f a second", rate)
		if p.done < p.total {
			text += fmt.Sprintf(", %s left", time.Duration(float64(p.total-p.done)/rate*float64(time.Second)).Round(time.Second))
		}
	}
	return text
}

func (p *progress) rate() float64 {
	took := p.now().Sub(p.begun).Seconds()
	if took <= 0 {
		return 0
	}
	return float64(p.done) / took
}

// end removes the progress line and returns the summary.
func (p *progress) end() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal && !p.quiet {
		_, _ = io.WriteString(p.to, "\x1b[K")
	}
	took := p.now().Sub(p.begun)
	if p.done == 0 || took <= 0 {
		return ""
	}
	if took < time.Second { // the time is too short to compute a rate
		return fmt.Sprintf("%s in %s", show.CountOf(p.done, "thing"), took.Round(time.Millisecond))
	}
	return fmt.Sprintf("%s in %s, %.0f a minute", show.CountOf(p.done, "thing"), took.Round(100*time.Millisecond), 60*p.rate())
}
