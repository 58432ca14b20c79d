package pools

// ScopeKeeper is the subject of the events about the creation and removal of scope pools. It replaces the names of the callers, which the pool's
// owner must not see.
const ScopeKeeper = "carve:scopes"
