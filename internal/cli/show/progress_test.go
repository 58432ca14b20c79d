package show_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// pass waits on the clock of the synctest bubble, so the test does not really wait.
func pass(d time.Duration) { <-time.After(d) }

// The test uses the clock of a synctest bubble. That clock does not advance while code runs.
func TestWorkLongerThanASecondShowsProgress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		watched bool
		run     func(p *show.Printer)
		want    string
	}{
		"Waiting": {true, func(p *show.Printer) {
			done := p.Waiting("waiting for it")
			pass(2500 * time.Millisecond)
			done()
			pass(time.Minute)
			p.Note("done")
		}, "\r\x1b[Kwaiting for it, 1 s\r\x1b[Kwaiting for it, 2 s\r\x1b[Kdone\n"},
		"Short": {true, func(p *show.Printer) {
			done := p.Waiting("waiting for it")
			pass(900 * time.Millisecond)
			done()
			p.Note("done")
		}, "done\n"},
		"CountWhileWaiting": {true, func(p *show.Printer) {
			p.Progress("%d of 2 done", 1)
			done := p.Waiting("waiting for it")
			pass(1500 * time.Millisecond)
			done()
			p.ProgressEnds()
		}, "\r\x1b[K1 of 2 done, 1 s\r\x1b[K"},
		"TwoAtATime": {true, func(p *show.Printer) {
			one, two := p.Waiting("waiting for it"), p.Waiting("waiting for it")
			pass(500 * time.Millisecond)
			one()
			one() // a second call has no effect
			pass(600 * time.Millisecond)
			two()
			p.ProgressEnds()
		}, "\r\x1b[Kwaiting for it, 1 s\r\x1b[K"},
		"WithoutATerminal": {false, func(p *show.Printer) {
			done := p.Waiting("waiting for it")
			pass(time.Minute)
			done()
			p.Progress("half")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var aside bytes.Buffer
				p := &show.Printer{Aside: &aside, Watched: c.watched, Hide: func(s string) string { return s }}
				c.run(p)
				synctest.Wait()
				require.Equal(t, c.want, aside.String())
			})
		})
	}
}
