package schema

import (
	"regexp"
	"strings"
	"sync"
)

// Killer disconnects a migrating process at each statement that changes the database. It does so twice: once before the statement, and once after it,
// so that the result does not arrive. The zero Killer has not disconnected anything yet. A nil Killer never does.
type Killer struct {
	mu     sync.Mutex
	before map[string]bool
	after  map[string]bool
}

// changes matches a statement that changes the database. Killer ignores the statements for the lease, because they run too often.
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

// Statements returns the number of statements that Killer has struck.
func (k *Killer) Statements() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.after)
}
