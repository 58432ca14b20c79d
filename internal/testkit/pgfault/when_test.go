package pgfault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// decided returns the statements, out of n on one connection, that a fault chooses.
func decided(f Fault, conn, n int) []int {
	var out []int
	for seq := 1; seq <= n; seq++ {
		if f(Event{Conn: conn, Seq: seq}) != (Action{}) {
			out = append(out, seq)
		}
	}
	return out
}

func TestNthFirstAndOnceCountMatchingEvents(t *testing.T) {
	t.Parallel()
	even := func(f Fault) Fault { return When(func(e Event) bool { return e.Seq%2 == 0 }, f) }
	require.Equal(t, []int{6}, decided(Nth(3, even(AnswerLost())), 1, 20))
	require.Equal(t, []int{2, 4}, decided(First(2, even(AnswerLost())), 1, 20))
	require.Equal(t, []int{2}, decided(Once(even(AnswerLost())), 1, 20))
	require.Empty(t, decided(First(0, AnswerLost()), 1, 20))
}

func TestProbabilityIsDeterministicBySeedNameAndPosition(t *testing.T) {
	t.Parallel()
	const n = 20_000
	choose := func(p float64, seed uint64, f Fault, conn int) []int {
		return decided(Probability(p, seed, f), conn, n)
	}
	some := choose(0.06, 1, AnswerLost(), 1)
	require.InDelta(t, 0.06*n, len(some), 0.01*n)
	require.Equal(t, some, choose(0.06, 1, AnswerLost(), 1))
	require.NotEqual(t, some, choose(0.06, 2, AnswerLost(), 1), "seed")
	require.NotEqual(t, some, choose(0.06, 1, AnswerLost(), 2), "connection")
	require.NotEqual(t, some, choose(0.06, 1, ConnectionLost(), 1), "fault")
	require.Empty(t, choose(0, 1, AnswerLost(), 1))
	require.Len(t, choose(1, 1, AnswerLost(), 1), n)
}

func TestFaultsMatchTheirEvents(t *testing.T) {
	t.Parallel()
	hits := func(f Fault, e Event) bool { return f(e) != (Action{}) }
	take := Event{Kind: Statement, SQL: "delete from blocks for update skip locked", Tables: []string{"blocks"}, Writes: true, InTx: true}
	require.True(t, hits(OnlySQL("from blocks", AnswerLost()), take))
	require.False(t, hits(OnlySQL("from claims", AnswerLost()), take))
	require.True(t, hits(OnlyTable("blocks", AnswerLost()), take))
	require.False(t, hits(OnlyTable("block", AnswerLost()), take))
	require.False(t, hits(On(Commit, AnswerLost()), take))
	require.True(t, hits(NoRows(), take))
	take.InTx = false
	require.False(t, hits(NoRows(), take))
	for _, f := range []Fault{AnswerLost(), ConnectionLost(), Drain57P01(), SQLState("1"), Partition(), Hold(NewGate())} {
		require.True(t, hits(f, Event{Kind: Rollback}))
		require.False(t, hits(f, Event{Kind: Prepare}))
		require.False(t, hits(f, Event{Kind: Connect}))
	}
	require.True(t, hits(Latency(1), Event{Kind: Prepare}))
	require.Equal(t, "mine", Named("mine", AnswerLost())(Event{}).Name)
}

func TestFirstEffectiveFaultWins(t *testing.T) {
	t.Parallel()
	s := newRuleSet(nil)
	gate := NewGate()
	late := Once(Drain57P01())
	s.set([]Rule{Latency(time.Second), Hold(gate), Latency(time.Minute), Once(SQLState("40001")), late, Latency(time.Hour)})

	first := s.decide(Event{})
	require.Equal(t, "40001", first.Code)
	require.Equal(t, gate, first.Hold)
	require.Equal(t, time.Second+time.Minute, first.Delay)
	require.Equal(t, "57P01", s.decide(Event{}).Code, "it had not been asked before")
	require.Equal(t, Action{Name: "Latency", Delay: time.Second + time.Minute + time.Hour}, s.decide(Event{Kind: Prepare}))

	s.set(nil)
	require.Equal(t, Action{}, s.decide(Event{}))
}

func TestPrepareIsNeverFaulted(t *testing.T) {
	t.Parallel()
	s := newRuleSet(nil)
	s.set([]Rule{always(Action{Name: "x", Drop: true, Answer: Nothing})})
	require.Equal(t, Action{}, s.decide(Event{Kind: Prepare}))
	require.Empty(t, s.injected)
}

func TestNoRowsSetsRowCountsToZero(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{"SELECT 3": "SELECT 0", "INSERT 0 12": "INSERT 0 0", "BEGIN": "BEGIN", "LOCK TABLE": "LOCK TABLE"} {
		require.Equal(t, want, string(noRows([]byte(tag))))
	}
}
