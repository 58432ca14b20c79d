package consistency

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

func block(s string) netip.Prefix { return netip.MustParsePrefix(s) }

func small() *Recorder { return NewRecorder(Pool{Name: "p", Block: block("10.0.0.0/30"), Unit: 32}) }

// These are histories of two clients on four addresses. Each case states whether an order exists.
func TestModelAcceptsOnlyPossibleHistories(t *testing.T) {
	t.Parallel()
	ok := func(r *Recorder, name string, s string) { r.Claim(0, "p", name, block(s).Bits()).Got(block(s)) }
	for _, c := range []struct {
		name string
		want porcupine.CheckResult
		play func(r *Recorder)
	}{
		{"OneAfterTheOther", porcupine.Ok, func(r *Recorder) {
			ok(r, "a", "10.0.0.0/31")
			ok(r, "b", "10.0.0.2/32")
			ok(r, "c", "10.0.0.3/32")
			r.Claim(0, "p", "d", 32).Exhausted()
			r.Release(0, "p", "b").Released()
			ok(r, "e", "10.0.0.2/32")
			r.Release(0, "p", "b").NotFound()
			r.Release(0, "p", "never").NotFound()
		}},
		{"TheWholePool", porcupine.Ok, func(r *Recorder) { ok(r, "a", "10.0.0.0/30") }},
		{"SameBlockTwice", porcupine.Illegal, func(r *Recorder) {
			ok(r, "a", "10.0.0.0/32")
			ok(r, "b", "10.0.0.0/32")
		}},
		{"BlockInsideAHeldOne", porcupine.Illegal, func(r *Recorder) {
			ok(r, "a", "10.0.0.0/31")
			ok(r, "b", "10.0.0.1/32")
		}},
		{"BlockAroundAHeldOne", porcupine.Illegal, func(r *Recorder) {
			ok(r, "a", "10.0.0.1/32")
			ok(r, "b", "10.0.0.0/31")
		}},
		{"SameBlockTwiceAtOnce", porcupine.Illegal, func(r *Recorder) {
			a, b := r.Claim(0, "p", "a", 32), r.Claim(1, "p", "b", 32)
			a.Got(block("10.0.0.0/32"))
			b.Got(block("10.0.0.0/32"))
		}},
		{"SameBlockAfterItsRelease", porcupine.Ok, func(r *Recorder) {
			ok(r, "a", "10.0.0.0/30")
			gone, b := r.Release(0, "p", "a"), r.Claim(1, "p", "b", 32)
			b.Got(block("10.0.0.0/32")) // before the response to the release arrives
			gone.Released()
		}},
		{"SameBlockBeforeItsRelease", porcupine.Illegal, func(r *Recorder) {
			ok(r, "a", "10.0.0.0/30")
			ok(r, "b", "10.0.0.0/32")
			r.Release(0, "p", "a").Released()
		}},
		{"AnotherLength", porcupine.Illegal, func(r *Recorder) { r.Claim(0, "p", "a", 32).Got(block("10.0.0.0/31")) }},
		{"OutsideThePool", porcupine.Illegal, func(r *Recorder) { ok(r, "a", "10.0.0.4/32") }},
		{"ExhaustedWhileThereIsRoom", porcupine.Illegal, func(r *Recorder) {
			ok(r, "a", "10.0.0.0/31")
			r.Claim(0, "p", "b", 31).Exhausted()
		}},
		{"ExhaustedByFragments", porcupine.Ok, func(r *Recorder) {
			ok(r, "a", "10.0.0.0/32")
			ok(r, "b", "10.0.0.2/32")
			r.Claim(0, "p", "c", 31).Exhausted()
		}},
		{"ExhaustedByWhoIsFasterAtOnce", porcupine.Ok, func(r *Recorder) {
			late := r.Claim(1, "p", "b", 30)
			ok(r, "a", "10.0.0.0/32")
			late.Exhausted()
		}},
		{"ExhaustedByWhoCameAfterwards", porcupine.Illegal, func(r *Recorder) {
			r.Claim(1, "p", "b", 30).Exhausted()
			ok(r, "a", "10.0.0.0/32")
		}},
		{"ThisBlock", porcupine.Ok, func(r *Recorder) {
			r.ClaimBlock(0, "p", "a", block("10.0.0.2/31")).Got(block("10.0.0.2/31"))
			r.ClaimBlock(0, "p", "b", block("10.0.0.3/32")).Taken()
			r.ClaimBlock(0, "p", "c", block("10.0.0.0/30")).Taken()
		}},
		{"AnotherBlockThanThis", porcupine.Illegal, func(r *Recorder) {
			r.ClaimBlock(0, "p", "a", block("10.0.0.2/31")).Got(block("10.0.0.0/31"))
		}},
		{"TakenWhileItIsFree", porcupine.Illegal, func(r *Recorder) {
			ok(r, "a", "10.0.0.0/32")
			r.ClaimBlock(0, "p", "b", block("10.0.0.1/32")).Taken()
		}},
		{"ExhaustedForThisBlock", porcupine.Illegal, func(r *Recorder) { r.ClaimBlock(0, "p", "b", block("10.0.0.1/32")).Exhausted() }},
		{"ReleasedWhatIsNotHeld", porcupine.Illegal, func(r *Recorder) { r.Release(0, "p", "a").Released() }},
		{"ReleasedTwice", porcupine.Illegal, func(r *Recorder) {
			ok(r, "a", "10.0.0.0/32")
			r.Release(0, "p", "a").Released()
			r.Release(1, "p", "a").Released()
		}},
		{"AcknowledgedAndLost", porcupine.Illegal, func(r *Recorder) {
			ok(r, "a", "10.0.0.0/32")
			r.Release(0, "p", "a").NotFound()
		}},
		{"UnknownThatTookEffect", porcupine.Ok, func(r *Recorder) {
			r.Claim(0, "p", "a", 31).Unknown()
			ok(r, "b", "10.0.0.0/31")
			r.Claim(0, "p", "c", 32).Exhausted()
			r.Release(0, "p", "a").Released()
		}},
		{"UnknownThatDidNot", porcupine.Ok, func(r *Recorder) {
			r.Claim(0, "p", "a", 31).Unknown()
			ok(r, "b", "10.0.0.0/30")
			r.Release(0, "p", "a").NotFound()
		}},
		{"UnknownThatTakesEffectLate", porcupine.Ok, func(r *Recorder) {
			r.ClaimBlock(0, "p", "a", block("10.0.0.0/32")).Unknown()
			ok(r, "b", "10.0.0.0/32")
			r.Release(1, "p", "b").Released()
			r.ClaimBlock(1, "p", "c", block("10.0.0.0/31")).Taken()
		}},
		{"UnknownExplainsNoMoreThanItCan", porcupine.Illegal, func(r *Recorder) {
			r.Claim(0, "p", "a", 32).Unknown()
			r.Claim(0, "p", "b", 31).Exhausted()
		}},
		{"UnknownRelease", porcupine.Ok, func(r *Recorder) {
			ok(r, "a", "10.0.0.0/30")
			r.Release(0, "p", "a").Unknown()
			r.Claim(0, "p", "b", 32).Exhausted()
			ok(r, "c", "10.0.0.0/32")
			r.Release(0, "p", "a").NotFound()
		}},
		{"UnknownReleaseOfNothing", porcupine.Ok, func(r *Recorder) { r.Release(0, "p", "a").Unknown() }},
		{"UnknownReleaseIsNotTakenBack", porcupine.Illegal, func(r *Recorder) {
			ok(r, "a", "10.0.0.0/30")
			r.Release(0, "p", "a").Unknown()
			ok(r, "c", "10.0.0.0/32")
			r.Release(0, "p", "a").Released()
		}},
		{"NeverAnswered", porcupine.Ok, func(r *Recorder) {
			r.Claim(0, "p", "a", 30)
			r.Claim(1, "p", "b", 32).Exhausted()
		}},
		{"VoidIsForgotten", porcupine.Illegal, func(r *Recorder) {
			r.Claim(0, "p", "a", 30).Void()
			r.Claim(1, "p", "b", 32).Exhausted()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := small()
			c.play(r)
			v := r.Check(patience)
			require.Equal(t, c.want, v.Result, "%v", v)
		})
	}
}

func TestPoolsAreJudgedSeparately(t *testing.T) {
	t.Parallel()
	r := NewRecorder(Pool{Name: "p", Block: block("10.0.0.0/30"), Unit: 32}, Pool{Name: "q", Block: block("2001:db8::/126"), Unit: 128})
	r.Claim(0, "p", "a", 30).Got(block("10.0.0.0/30"))
	r.Claim(0, "q", "b", 128).Got(block("2001:db8::3/128"))
	r.Claim(0, "p", "c", 32).Exhausted()
	Require(t, r)
	r.Claim(0, "q", "d", 127).Exhausted()
	require.Equal(t, porcupine.Illegal, r.Check(patience).Result)
}

func TestOutcomeFollowsFromTheErrorCode(t *testing.T) {
	t.Parallel()
	for code, want := range map[ipam.Code][2]outcome{ // the outcome for a claim, and for a release
		"":                          {got, released},
		ipam.CodePoolExhausted:      {exhausted, exhausted},
		ipam.CodeBlockTaken:         {taken, taken},
		ipam.CodeAllocationRetained: {taken, taken},
		ipam.CodeNotFound:           {unknown, notFound},
		ipam.CodeContention:         {void, void},
		ipam.CodeDeadline:           {unknown, unknown},
		ipam.CodeOutcomeUnknown:     {unknown, unknown},
		ipam.CodeUnavailable:        {unknown, unknown},
		ipam.CodeInternal:           {unknown, unknown},
		ipam.CodeAlreadyExists:      {unknown, unknown},
	} {
		var err error
		if code != "" {
			err = ipam.Errorf(code, "x")
		}
		r := small()
		claim, release := r.Claim(0, "p", "a", 32), r.Release(0, "p", "b")
		claim.Answer(block("10.0.0.0/32"), err)
		release.Answer(netip.Prefix{}, err)
		require.Equal(t, want, [2]outcome{claim.answer.outcome, release.answer.outcome}, code)
	}
	r := small()
	c := r.Claim(0, "p", "a", 32)
	c.Answer(netip.Prefix{}, os.ErrDeadlineExceeded)
	require.Equal(t, unknown, c.answer.outcome, "an error that is none of ours says nothing")
}

func TestInvalidUseOfTheRecorderPanics(t *testing.T) {
	t.Parallel()
	require.Panics(t, func() { small().Claim(0, "q", "a", 32) }, "a pool that is not of the history")
	require.Panics(t, func() { NewRecorder(Pool{Name: "p", Block: block("10.0.0.0/8"), Unit: 32}) }, "a pool too large to judge")
	require.Panics(t, func() { NewRecorder(Pool{Name: "p", Block: block("10.0.0.0/24"), Unit: 20}) }, "a unit larger than the pool")
	require.Panics(t, func() { NewRecorder(Pool{Name: "p", Block: block("10.0.0.0/28"), Unit: 31}).Claim(0, "p", "a", 32) }, "less than a unit")
	require.Panics(t, func() {
		c := small().Claim(0, "p", "a", 32)
		c.Exhausted()
		c.Exhausted()
	}, "a second answer")
}

func TestUnitsAndBlocksConvertBothWays(t *testing.T) {
	t.Parallel()
	for _, p := range []Pool{
		{Block: block("10.0.0.16/28"), Unit: 32}, {Block: block("10.16.0.0/12"), Unit: 24}, {Block: block("2001:db8::/56"), Unit: 64},
		{Block: block("2001:db8::/124"), Unit: 128}, {Block: block("0.0.0.0/0"), Unit: 4}, {Block: block("10.0.0.1/32"), Unit: 32},
	} {
		p.check()
		for bits := p.Block.Bits(); bits <= p.Unit; bits++ {
			for first := 0; first < p.units(); first += p.size(bits) {
				b := p.at(first, bits)
				require.Equal(t, b.Masked(), b)
				require.True(t, p.Block.Overlaps(b) && b.Bits() == bits)
				unit, ok := p.unit(b)
				require.True(t, ok)
				require.Equal(t, first, unit)
			}
		}
	}
	p := Pool{Block: block("10.0.0.16/28"), Unit: 31}
	for _, s := range []string{"10.0.0.0/28", "10.0.0.16/32", "10.0.0.16/27", "2001:db8::/31"} {
		_, ok := p.unit(block(s))
		require.False(t, ok, s)
	}
}

func TestPictureOfAHistoryNamesItsOperations(t *testing.T) {
	t.Parallel()
	r := small()
	r.Claim(0, "p", "first", 31).Got(block("10.0.0.2/31"))
	r.Claim(1, "p", "second", 31).Got(block("10.0.0.2/31"))
	r.ClaimBlock(0, "p", "third", block("10.0.0.0/32")).Unknown()
	r.Release(0, "p", "first").Released()
	v := r.Check(patience)
	require.Contains(t, v.String(), "4 operations")
	path := filepath.Join(t.TempDir(), "history.html")
	require.NoError(t, v.Draw(path))
	html, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, want := range []string{"claim first /31", "claim third 10.0.0.0/32", "release first", "10.0.0.2/31 first"} {
		require.Contains(t, string(html), want)
	}
}

func TestHistoryThatIsNotLinearizableFailsTheTestWithAPicture(t *testing.T) {
	t.Parallel()
	r := small()
	r.Claim(0, "p", "a", 30).Exhausted()
	end := &ending{TB: t, dir: t.TempDir()}
	end.run(func() { Require(end, r) })
	require.Contains(t, end.said, "not linearizable")
	require.FileExists(t, filepath.Join(end.dir, "history.html"))

	end = &ending{TB: t, dir: t.TempDir()}
	end.run(func() { Require(end, small()) })
	require.Contains(t, end.said, "empty")
}

// ending stands for a test that fails, so that another test can observe it.
type ending struct {
	testing.TB
	dir, said string
}

func (e *ending) ArtifactDir() string       { return e.dir }
func (e *ending) Helper()                   {}
func (e *ending) Logf(string, ...any)       {}
func (e *ending) Fatal(args ...any)         { e.said = fmt.Sprint(args...); panic(e) }
func (e *ending) Errorf(f string, a ...any) { e.said = fmt.Sprintf(f, a...) }

func (e *ending) run(f func()) {
	defer func() { _ = recover() }()
	f()
}
