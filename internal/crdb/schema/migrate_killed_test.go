package schema

import (
	"regexp"
	"strings"
	"sync"
)

// Killer cuts off whoever changes a schema: once before each statement that changes something, and once behind it, when it is done and nobody knows.
// The zero Killer has killed nobody yet; nil kills nobody.
type Killer struct {
	mu     sync.Mutex
	before map[string]bool
	after  map[string]bool
}

// changes tells what changes a database from what asks it; the lease is taken and given back too often to be of interest.
var changes = regexp.MustCompile(`(?i)^(create|alter|drop|insert|update|delete|grant|revoke) `)

// Strikes says whether it strikes at this statement, and when.
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

// Statements is how many there were.
func (k *Killer) Statements() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.after)
}
