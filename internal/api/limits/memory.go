package limits

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/carve-ipam/carve/internal/ipam"
)

// responseMemory limits the JSON of all responses that the server holds at the same time, in bytes. The process needs several times as much memory
// for rows, objects and text.
const responseMemory = 64 << 20

// One project's callers may use a quarter, and one caller may use an eighth.
const (
	projectShare = 4
	callerShare  = 8
)

// memoryWait is the time for which a request waits for memory before it is refused.
const memoryWait = 5 * time.Second

// Memory limits the bytes in all responses that the server holds. A response counts from the moment before its rows are read until the client has
// received it. A slow client occupies only the memory of its own responses, at most its share. A nil Memory has no limit.
type Memory struct {
	limit int64
	whole *semaphore.Weighted
	held  atomic.Int64

	mu     sync.Mutex
	shares map[string]*memoryShare // shares by caller and by project; an entry exists only while a request uses it
}

type memoryShare struct {
	free  *semaphore.Weighted
	users int
}

// NewMemory returns a Memory with the given limit in bytes.
func NewMemory(limit int64) *Memory {
	return &Memory{limit: limit, whole: semaphore.NewWeighted(limit), shares: map[string]*memoryShare{}}
}

var (
	errCallerMemory = ipam.Errorf(ipam.CodeRateLimited,
		"The responses that this caller has not read yet use all the memory that one caller may use. Read them, or ask for less at once, and repeat the request.")
	errProjectMemory = ipam.Errorf(ipam.CodeRateLimited,
		"The responses that the callers of this project have not read yet use all the memory that one project may use. Read them, or ask for less at once, and repeat the request.")
	errWholeMemory = ipam.Errorf(ipam.CodeUnavailable,
		"The responses that callers have not read yet use all the memory that the server has for responses. Repeat the request later.")
)

// Reserve reserves bytes for a response to a caller, at most the caller's share. If project is not "", it also reserves the bytes in the project's
// share. Reserve takes the shares before the common memory, so that a request that waits for its project's share holds no memory that other projects
// could use.
//
// keep reduces the reservation to a number of bytes.
func (m *Memory) Reserve(ctx context.Context, caller, project string, bytes int) (keep func(bytes int), err error) {
	if m == nil {
		return func(int) {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, memoryWait)
	defer cancel()
	var held []func(int64)
	n := min(int64(bytes), m.limit/callerShare)
	take := func(s *semaphore.Weighted, drop func(), full *ipam.Error) error {
		if s.Acquire(ctx, n) != nil {
			drop()
			return full
		}
		held = append(held, func(left int64) {
			if s.Release(n - left); left == 0 {
				drop()
			}
		})
		return nil
	}
	s, drop := m.share("caller "+caller, m.limit/callerShare)
	err = take(s, drop, errCallerMemory)
	if err == nil && project != "" {
		s, drop = m.share("project "+project, m.limit/projectShare)
		err = take(s, drop, errProjectMemory)
	}
	if err == nil {
		err = take(m.whole, func() {}, errWholeMemory)
	}
	keep = func(bytes int) {
		left := min(int64(bytes), n)
		if n == 0 || left == n {
			return
		}
		for _, release := range held {
			release(left)
		}
		if err == nil {
			m.held.Add(left - n)
		}
		n = left
	}
	if err != nil {
		keep(0)
		return nil, err
	}
	m.held.Add(n)
	return keep, nil
}

// share returns the memory for one caller or project. It creates the entry for the first request that uses it. drop ends the use.
func (m *Memory) share(key string, limit int64) (free *semaphore.Weighted, drop func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.shares[key]
	if s == nil {
		s = &memoryShare{free: semaphore.NewWeighted(limit)}
		m.shares[key] = s
	}
	s.users++
	return s.free, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if s.users--; s.users == 0 {
			delete(m.shares, key)
		}
	}
}

// Held returns the bytes that responses hold now.
func (m *Memory) Held() int64 { return m.held.Load() }
