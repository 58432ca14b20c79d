package ratelimit

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// defaultWindow is a bucket's default capacity, as the number of seconds in which an empty bucket fills.
const defaultWindow = 2

// defaultSize is a Limiter's default number of buckets: some 10 MB when all are in use.
const defaultSize = 65536

// Options configures a Limiter.
type Options struct {
	Size   int              // maximum number of buckets; 0: 65536
	Window int              // bucket capacity, as the seconds in which it fills; 0: 2
	Clock  func() time.Time // nil: the system clock
}

// Limiter is one policy with a bucket for each key. It is safe for concurrent use.
type Limiter struct {
	name      string
	perSecond int
	window    int // seconds
	clock     func() time.Time

	mu       sync.Mutex // guards the buckets and their tokens
	size     int
	buckets  *simplelru.LRU[string, *bucket]
	overflow *bucket
}

// bucket is one key's tokens. A held token is neither taken nor free.
type bucket struct {
	tokens *rate.Limiter
	held   int
}

// Decision is the result of a request for tokens, with the bucket's state.
type Decision struct {
	Allowed    bool
	Policy     string
	Quota      int           // the bucket's capacity
	Window     time.Duration // time in which an empty bucket fills
	Remaining  int           // whole tokens that remain
	RetryAfter time.Duration // time until the next token
}

// New returns a policy with perSecond tokens a second. If perSecond is 0, it returns nil, which means no limit.
func New(name string, perSecond int, o Options) *Limiter {
	if perSecond <= 0 {
		return nil
	}
	if o.Size <= 0 {
		o.Size = defaultSize
	}
	if o.Window <= 0 {
		o.Window = defaultWindow
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	l := &Limiter{name: name, perSecond: perSecond, window: o.Window, clock: o.Clock, size: o.Size}
	l.buckets, _ = simplelru.NewLRU[string, *bucket](o.Size, nil) // fails only for a size below 1
	l.overflow = l.fullBucket()
	return l
}

// Take takes a token if one is free.
func (l *Limiter) Take(key string) Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, now := l.bucket(key)
	return l.decide(b, now, b.tokens.AllowN(now, 1))
}

// CanSpend reports whether a bucket has enough tokens for the next part of an operation. tokens is the cost of this part, and taken is the cost of
// the earlier parts. A bucket that was full at first has enough for all parts, even if they cost more than its capacity.
func (l *Limiter) CanSpend(key string, tokens, taken int) Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, now := l.bucket(key)
	enough := min(tokens, b.tokens.Burst()-taken)
	d := l.decide(b, now, b.free(now) >= float64(enough))
	if !d.Allowed {
		d.RetryAfter = l.timeUntil(b, now, enough)
	}
	return d
}

// Debit takes tokens even if the bucket does not have them. The number of tokens falls at most to minus the capacity, so that many parallel
// operations do not block later operations for long.
func (l *Limiter) Debit(key string, tokens int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, now := l.bucket(key)
	tokens = min(tokens, int(b.tokens.TokensAt(now))+b.tokens.Burst())
	for tokens > 0 {
		n := min(tokens, b.tokens.Burst())
		b.tokens.ReserveN(now, n)
		tokens -= n
	}
}

// timeUntil returns the time until a bucket has a number of tokens that it does not have yet.
func (l *Limiter) timeUntil(b *bucket, now time.Time, tokens int) time.Duration {
	return time.Duration((float64(tokens) - b.free(now)) / float64(l.perSecond) * float64(time.Second))
}

// Check reports whether Hold would be allowed, without holding a token.
func (l *Limiter) Check(key string) Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, now := l.bucket(key)
	return l.decide(b, now, b.free(now) >= 1)
}

// Hold reserves a token if one is free. Call release once to return the reservation. Hold itself takes no token; only Take does.
func (l *Limiter) Hold(key string) (release func(), d Decision) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, now := l.bucket(key)
	if b.free(now) < 1 {
		return func() {}, l.decide(b, now, false)
	}
	b.held++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		b.held--
	}, l.decide(b, now, true)
}

func (b *bucket) free(now time.Time) float64 { return b.tokens.TokensAt(now) - float64(b.held) }

// bucket returns a key's bucket. A new key replaces the least recently used bucket if that bucket is full, and otherwise uses the overflow bucket. It
// does not search the other buckets, because they were used more recently and few of them are full.
func (l *Limiter) bucket(key string) (b *bucket, now time.Time) {
	now = l.clock()
	if b, ok := l.buckets.Get(key); ok {
		return b, now
	}
	if l.buckets.Len() == l.size {
		if _, oldest, _ := l.buckets.GetOldest(); oldest.free(now) < float64(oldest.tokens.Burst()) {
			return l.overflow, now
		}
	}
	b = l.fullBucket()
	l.buckets.Add(key, b)
	return b, now
}

func (l *Limiter) fullBucket() *bucket {
	return &bucket{tokens: rate.NewLimiter(rate.Limit(l.perSecond), l.perSecond*l.window)}
}

// decide returns the decision and a bucket's state.
func (l *Limiter) decide(b *bucket, now time.Time, allowed bool) Decision {
	free := max(b.free(now), 0)
	whole := int(free)
	missing := float64(whole+1) - free
	return Decision{
		Allowed: allowed, Policy: l.name, Quota: l.perSecond * l.window, Window: time.Duration(l.window) * time.Second, Remaining: whole,
		RetryAfter: time.Duration(missing / float64(l.perSecond) * float64(time.Second)),
	}
}
