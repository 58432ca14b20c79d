package ratelimit_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ratelimit"
)

// clock is a clock that moves only when the test moves it.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time        { return time.Unix(1_800_000_000, c.at.Load()) }
func (c *clock) pass(by time.Duration) { c.at.Add(int64(by)) }

func limiter(perSecond, size int) (*ratelimit.Limiter, *clock) {
	c := &clock{}
	return ratelimit.New("writes", perSecond, ratelimit.Options{Size: size, Clock: c.now}), c
}

func drain(l *ratelimit.Limiter, key string) int {
	for n := 0; ; n++ {
		if !l.Take(key).Allowed {
			return n
		}
	}
}

func TestBucketHoldsTwoSecondsOfItsRate(t *testing.T) {
	t.Parallel()
	l, c := limiter(10, 0)
	require.Equal(t, 20, drain(l, "a"))
	c.pass(time.Second)
	require.Equal(t, 10, drain(l, "a"))
	c.pass(time.Hour)
	require.Equal(t, 20, drain(l, "a"), "it holds no more than a full bucket")
}

func TestDecisionReportsRemainingAndRetryAfter(t *testing.T) {
	t.Parallel()
	l, c := limiter(2, 0)
	require.Equal(t, ratelimit.Decision{
		Allowed: true, Policy: "writes", Quota: 4, Window: 2 * time.Second, Remaining: 3, RetryAfter: 500 * time.Millisecond,
	}, l.Take("a"))
	drain(l, "a")
	c.pass(200 * time.Millisecond)
	d := l.Take("a")
	require.False(t, d.Allowed)
	require.Zero(t, d.Remaining)
	require.InDelta(t, float64(300*time.Millisecond), float64(d.RetryAfter), float64(time.Millisecond))
	c.pass(d.RetryAfter)
	require.True(t, l.Take("a").Allowed, "after RetryAfter there is one")
}

func TestCallersDoNotShareABucket(t *testing.T) {
	t.Parallel()
	l, _ := limiter(5, 0)
	drain(l, "noisy")
	require.False(t, l.Take("noisy").Allowed)
	require.Equal(t, 9, l.Take("quiet").Remaining)
}

func TestZeroLimitReturnsNoLimiter(t *testing.T) {
	t.Parallel()
	require.Nil(t, ratelimit.New("writes", 0, ratelimit.Options{}))
	require.NotNil(t, ratelimit.New("writes", 1, ratelimit.Options{}))
}

func TestHeldTokensAreUnavailableUntilReturned(t *testing.T) {
	t.Parallel()
	l, _ := limiter(1, 0)
	first, d := l.Hold("a")
	require.True(t, d.Allowed)
	second, d := l.Hold("a")
	require.True(t, d.Allowed)
	_, d = l.Hold("a")
	require.False(t, d.Allowed, "both tokens are held")
	require.False(t, l.Check("a").Allowed)

	first()
	require.True(t, l.Check("a").Allowed, "what was let go of is free again")
	second()
	require.Equal(t, 2, drain(l, "a"), "holding took nothing")
	require.False(t, l.Check("a").Allowed)
}

func TestFullBucketIsEvictedFirst(t *testing.T) {
	t.Parallel()
	l, c := limiter(1, 2)
	drain(l, "old")
	c.pass(2 * time.Second)
	drain(l, "recent")
	require.Equal(t, 2, drain(l, "new"), "the oldest bucket is full, so the new caller gets its place")
	require.False(t, l.Take("recent").Allowed)
	require.False(t, l.Take("new").Allowed)
}

func TestOtherCallersDoNotEvictADebt(t *testing.T) {
	t.Parallel()
	l, c := limiter(1, 3)
	l.Debit("debtor", 1000)
	for i := range 100 {
		l.Debit(strconv.Itoa(i), 1000)
	}
	require.False(t, l.Take("debtor").Allowed, "it owes two tokens")
	c.pass(2 * time.Second)
	require.False(t, l.Take("debtor").Allowed, "it has repaid its debt and has no token yet")
	c.pass(2 * time.Second)
	require.Equal(t, 2, drain(l, "debtor"))
}

func TestOtherCallersDoNotEvictAHeldToken(t *testing.T) {
	t.Parallel()
	l, _ := limiter(1, 1)
	release, d := l.Hold("a")
	require.True(t, d.Allowed)
	drain(l, "b")
	_, d = l.Hold("a")
	require.True(t, d.Allowed)
	_, d = l.Hold("a")
	require.False(t, d.Allowed, "both tokens are held")
	release()
	require.True(t, l.Check("a").Allowed)
}

func TestCallersWithoutABucketShareOne(t *testing.T) {
	t.Parallel()
	l, c := limiter(1, 2)
	drain(l, "a")
	drain(l, "b")
	total := 0
	for i := range 100 {
		total += drain(l, strconv.Itoa(i))
	}
	require.Equal(t, 2, total, "they take no more than one caller")
	c.pass(2 * time.Second)
	require.Equal(t, 2, drain(l, "later"), "the bucket of a is full again, so its place is free")
}

func TestConcurrentTakesDoNotExceedTheBucket(t *testing.T) {
	t.Parallel()
	l, _ := limiter(50, 0)
	var allowed atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if l.Take("a").Allowed {
					allowed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 100, allowed.Load())
}

func TestDebtIsRepaidBeforeNewTokens(t *testing.T) {
	t.Parallel()
	l, c := limiter(10, 0)
	require.True(t, l.CanSpend("a", 1000, 0).Allowed, "the bucket is full: there will never be more")
	l.Debit("a", 1000)
	d := l.CanSpend("a", 5, 0)
	require.False(t, d.Allowed)
	require.Zero(t, d.Remaining)
	require.Equal(t, 2500*time.Millisecond, d.RetryAfter, "20 are owed, as many as a bucket holds and no more")
	l.Debit("a", 1000)
	require.Equal(t, 2500*time.Millisecond, l.CanSpend("a", 5, 0).RetryAfter)
	c.pass(2500 * time.Millisecond)
	require.True(t, l.CanSpend("a", 5, 0).Allowed)
	require.False(t, l.CanSpend("a", 6, 0).Allowed)
	require.False(t, l.CanSpend("a", 1000, 0).Allowed, "what costs more than a bucket holds begins when it is full")
	l.Debit("b", 6)
	require.False(t, l.CanSpend("b", 20, 0).Allowed)
	require.True(t, l.CanSpend("b", 20, 6).Allowed, "6 of them were taken for the same thing")
	l.Debit("b", 20)
	require.True(t, l.CanSpend("b", 1, 26).Allowed, "the debt is its own")
	require.False(t, l.CanSpend("b", 0, 1).Allowed, "the debt is another's")
}

func TestBucketWindowIsConfigurable(t *testing.T) {
	t.Parallel()
	c := &clock{}
	l := ratelimit.New("work", 10, ratelimit.Options{Window: 4, Clock: c.now})
	require.Equal(t, 40, drain(l, "a"))
	d := l.Take("a")
	require.Equal(t, 40, d.Quota)
	require.Equal(t, 4*time.Second, d.Window)
	c.pass(time.Second)
	require.Equal(t, 10, drain(l, "a"), "it fills as fast")
}
