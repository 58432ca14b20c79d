package show

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// The progress line appears on a terminal after one second. It changes at most five times a second.
const (
	firstProgress = time.Second
	nextProgress  = 200 * time.Millisecond
)

// progressLine is a terminal's progress line.
type progressLine struct {
	mu             sync.Mutex
	began, printed time.Time
	text, waited   string        // the progress, and the event that the user waits for, which is shown if there is no progress
	line           string        // the line that is on the terminal now; "" if there is none
	waiting        int           // concurrent waits
	stop           chan struct{} // closed when the last wait ends
}

// Progress shows the progress on a terminal if the work takes longer than a second.
func (p *Printer) Progress(format string, args ...any) {
	if !p.Watched || p.Quiet {
		return
	}
	p.progress.mu.Lock()
	defer p.progress.mu.Unlock()
	p.progress.text = fmt.Sprintf(format, args...)
	p.printProgress()
}

// Aloud prints a text on Aside. Several goroutines may call it, also while a progress line is shown.
func (p *Printer) Aloud(text string) {
	p.progress.mu.Lock()
	defer p.progress.mu.Unlock()
	_, _ = io.WriteString(p.Aside, text)
}

// Waiting shows how long work lasts that has no measurable progress, until done is called.
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
		p.printProgress()
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

// tick updates the line until the last wait ends.
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
				p.printProgress()
			}
			p.progress.mu.Unlock()
		}
	}
}

// printProgress overwrites the progress line if the last update is long enough ago. The caller has the lock.
func (p *Printer) printProgress() {
	at, now := &p.progress, time.Now()
	if at.began.IsZero() {
		at.began = now
	}
	long := now.Sub(at.began)
	if long < firstProgress || now.Sub(at.printed) < nextProgress {
		return
	}
	at.printed = now
	if line := fmt.Sprintf("%s, %d s", FirstOf(at.text, at.waited), int(long.Seconds())); line != at.line {
		at.line = line
		_, _ = io.WriteString(p.Aside, "\r\x1b[K"+Clean(p.Hide(line))) // only for people
	}
}

// ProgressEnds removes the progress line before other output.
func (p *Printer) ProgressEnds() {
	p.progress.mu.Lock()
	defer p.progress.mu.Unlock()
	p.progressEnds()
}

// progressEnds does the work of ProgressEnds for a caller that has the lock.
func (p *Printer) progressEnds() {
	p.progress.began, p.progress.text = time.Time{}, "" // the line for the next work appears again after one second
	if p.progress.line != "" {
		p.progress.line = ""
		_, _ = io.WriteString(p.Aside, "\r\x1b[K")
	}
}
