package schema

import (
	"regexp"
	"strings"
	"sync"
)

// Killer cuts off a migrating process: once before each changing statement, and once after it, when the result does not arrive. The zero Killer has
// not killed yet; nil never kills.
type Killer struct {
	mu     sync.Mutex
	before map[string]bool
	after  map[string]bool
}

// changes matches statements that change the database. Killer ignores the lease, which changes too often.
var changes = regexp.MustCompile(`(?i)^(create|alter|drop|insert|update|delete|grant|revoke) `)

// Strikes reports whether the process dies before or after this statement.
func (k *Killer) Strikes(sql string) (before, after bool) {
	if k == nil || !changes.MatchString(sql) || strings.Contains(strings.ToLower(sql), "goose_lock") {
		return false, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.before == nil:
		k.before, k.after = map[string]bool{}, map[string]bool{}
		fallthrough
	case !k.before[sql]:
		k.before[sql] = true
		return true, false
	case !k.after[sql]:
		k.after[sql] = true
		return false, true
	default:
		return false, false
	}
}

// Statements returns the number of statements that it has struck.
func (k *Killer) Statements() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.after)
}
