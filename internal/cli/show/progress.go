package show

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// When progress is told, on a terminal: after the first second, and not more often than eyes can see.
const (
	firstProgress = time.Second
	nextProgress  = 200 * time.Millisecond
)

// progressing is how far something is, in a line of the terminal that is written over.
type progressing struct {
	mu          sync.Mutex
	began, told time.Time
	shown       bool
}

// Progress says how far something is, to a person at a terminal, when it takes longer.
func (p *Printer) Progress(format string, args ...any) {
	if !p.Watched || p.Quiet {
		return
	}
	p.progress.mu.Lock()
	defer p.progress.mu.Unlock()
	now := time.Now()
	if p.progress.began.IsZero() {
		p.progress.began = now
	}
	if now.Sub(p.progress.began) < firstProgress || now.Sub(p.progress.told) < nextProgress {
		return
	}
	p.progress.told, p.progress.shown = now, true
	_, _ = io.WriteString(p.Aside, "\r\x1b[K"+p.Hide(fmt.Sprintf(format, args...))) // it is for eyes alone
}

// ProgressEnds takes the line away: something else is said.
func (p *Printer) ProgressEnds() {
	p.progress.mu.Lock()
	defer p.progress.mu.Unlock()
	p.progress.began = time.Time{} // what comes next has a second of its own
	if p.progress.shown {
		p.progress.shown = false
		_, _ = io.WriteString(p.Aside, "\r\x1b[K")
	}
}
