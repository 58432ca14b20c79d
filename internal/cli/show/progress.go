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
	mu           sync.Mutex
	began, told  time.Time
	text, waited string        // how far it is, and what is waited for where nothing says that
	line         string        // what stands in the terminal; empty: nothing does
	waiting      int           // how many wait at the same time
	stop         chan struct{} // closed when nobody waits any more
}

// Progress says how far something is, to a person at a terminal, when it takes longer.
func (p *Printer) Progress(format string, args ...any) {
	if !p.Watched || p.Quiet {
		return
	}
	p.progress.mu.Lock()
	defer p.progress.mu.Unlock()
	p.progress.text = fmt.Sprintf(format, args...)
	p.tellProgress()
}

// Waiting says for how long something goes on that tells nothing of itself, until done is called.
func (p *Printer) Waiting(what string) (done func()) {
	if !p.Watched || p.Quiet {
		return func() {}
	}
	now := &p.progress
	now.mu.Lock()
	defer now.mu.Unlock()
	now.waiting++
	if now.waiting == 1 {
		now.waited, now.stop = what, make(chan struct{})
		p.tellProgress()
		go p.tick(now.stop)
	}
	return sync.OnceFunc(func() {
		now.mu.Lock()
		defer now.mu.Unlock()
		if now.waiting--; now.waiting == 0 {
			close(now.stop)
		}
	})
}

// tick tells again and again, until nobody waits.
func (p *Printer) tick(stop <-chan struct{}) {
	ticks := time.NewTicker(nextProgress)
	defer ticks.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticks.C:
			p.progress.mu.Lock()
			if p.progress.waiting > 0 {
				p.tellProgress()
			}
			p.progress.mu.Unlock()
		}
	}
}

// tellProgress writes the line over, if it is time. The caller has the lock.
func (p *Printer) tellProgress() {
	at, now := &p.progress, time.Now()
	if at.began.IsZero() {
		at.began = now
	}
	long := now.Sub(at.began)
	if long < firstProgress || now.Sub(at.told) < nextProgress {
		return
	}
	at.told = now
	if line := fmt.Sprintf("%s, %d s", FirstOf(at.text, at.waited), int(long.Seconds())); line != at.line {
		at.line = line
		_, _ = io.WriteString(p.Aside, "\r\x1b[K"+Clean(p.Hide(line))) // it is for eyes alone
	}
}

// ProgressEnds takes the line away: something else is said.
func (p *Printer) ProgressEnds() {
	p.progress.mu.Lock()
	defer p.progress.mu.Unlock()
	p.progressEnds()
}

// progressEnds is ProgressEnds for who has the lock.
func (p *Printer) progressEnds() {
	p.progress.began, p.progress.text = time.Time{}, "" // what comes next has a second of its own
	if p.progress.line != "" {
		p.progress.line = ""
		_, _ = io.WriteString(p.Aside, "\r\x1b[K")
	}
}
