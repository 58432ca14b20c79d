package ratelimit

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// defaultWindow is how many seconds' worth of tokens a bucket holds.
const defaultWindow = 2

// defaultSize is how many buckets a Limiter keeps: some 10 MB when all are in use.
const defaultSize = 65536

// Options of a Limiter.
type Options struct {
	Size   int              // buckets that are kept; 0: 65536
	Window int              // how many seconds' worth of tokens a bucket holds; 0: 2
	Clock  func() time.Time // nil: the system clock
}

// Limiter is one policy with a bucket for each key. It is safe for concurrent use.
type Limiter struct {
	name      string
	perSecond int
	window    int // seconds
	clock     func() time.Time

	mu      sync.Mutex // of finding a bucket or making it
	buckets *lru.Cache[string, *bucket]
}

// bucket is the tokens of one key. Those that are held are neither taken nor free.
type bucket struct {
	mu     sync.Mutex
	tokens *rate.Limiter
	held   int
}

// Decision says whether something may happen now, and what is left.
type Decision struct {
	Allowed    bool
	Policy     string
	Quota      int           // tokens of a full bucket
	Window     time.Duration // in which an empty bucket fills
	Remaining  int           // whole tokens that are left
	RetryAfter time.Duration // until there is one more
}

// New makes a policy of so many tokens a second. It answers nil for 0: no limit.
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
	l := &Limiter{name: name, perSecond: perSecond, window: o.Window, clock: o.Clock}
	l.buckets, _ = lru.New[string, *bucket](o.Size) // fails for a size below 1 alone
	return l
}

// Take takes a token, if there is one.
func (l *Limiter) Take(key string) Decision {
	b := l.bucket(key)
	b.mu.Lock()
	defer b.mu.Unlock()
	now := l.clock()
	return l.decide(b, now, b.tokens.AllowN(now, 1))
}

// Afford says whether so many tokens are there, or they are more than a bucket holds and it is full, but for those that were taken for the same thing before.
func (l *Limiter) Afford(key string, tokens, taken int) Decision {
	b := l.bucket(key)
	b.mu.Lock()
	defer b.mu.Unlock()
	now := l.clock()
	enough := max(min(tokens, b.tokens.Burst()-taken), 0)
	d := l.decide(b, now, b.free(now) >= float64(enough))
	if !d.Allowed {
		d.RetryAfter = l.until(b, now, enough)
	}
	return d
}

// Owe takes tokens, whether or not they are there. A bucket owes a full one at most: what many did at once is not held against those who come
// after them for ever.
func (l *Limiter) Owe(key string, tokens int) {
	b := l.bucket(key)
	b.mu.Lock()
	defer b.mu.Unlock()
	now := l.clock()
	b.owe(now, min(tokens, int(b.tokens.TokensAt(now))+b.tokens.Burst()))
}

// owe takes tokens, whether or not they are there.
func (b *bucket) owe(now time.Time, tokens int) {
	for tokens > 0 {
		n := min(tokens, b.tokens.Burst())
		b.tokens.ReserveN(now, n)
		tokens -= n
	}
}

// until is how long it takes until a bucket has so many tokens, of which it has fewer.
func (l *Limiter) until(b *bucket, now time.Time, tokens int) time.Duration {
	return time.Duration((float64(tokens) - b.free(now)) / float64(l.perSecond) * float64(time.Second))
}

// Check says whether Hold would be allowed.
func (l *Limiter) Check(key string) Decision {
	b := l.bucket(key)
	b.mu.Lock()
	defer b.mu.Unlock()
	now := l.clock()
	return l.decide(b, now, b.free(now) >= 1)
}

// Hold sets a token aside, if there is one that nobody holds. The release that comes with it lets go of it; it is to be called
// once. Whether the token is then taken is up to Take.
func (l *Limiter) Hold(key string) (release func(), d Decision) {
	b := l.bucket(key)
	b.mu.Lock()
	defer b.mu.Unlock()
	now := l.clock()
	if b.free(now) < 1 {
		return func() {}, l.decide(b, now, false)
	}
	b.held++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.held--
	}, l.decide(b, now, true)
}

func (b *bucket) free(now time.Time) float64 { return b.tokens.TokensAt(now) - float64(b.held) }

func (l *Limiter) bucket(key string) *bucket {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok := l.buckets.Get(key); ok {
		return b
	}
	b := &bucket{tokens: rate.NewLimiter(rate.Limit(l.perSecond), l.perSecond*l.window)}
	l.buckets.Add(key, b)
	return b
}

// decide describes a bucket after what was decided.
func (l *Limiter) decide(b *bucket, now time.Time, allowed bool) Decision {
	free := max(b.free(now), 0)
	whole := int(free)
	missing := float64(whole+1) - free
	return Decision{
		Allowed: allowed, Policy: l.name, Quota: l.perSecond * l.window, Window: time.Duration(l.window) * time.Second, Remaining: whole,
		RetryAfter: time.Duration(missing / float64(l.perSecond) * float64(time.Second)),
	}
}
