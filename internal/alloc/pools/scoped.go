package pools

// ScopeKeeper is the subject of the events that record the creation and removal of scope pools. It replaces the callers' names, which the pool's
// owner must not see.
const ScopeKeeper = "carve:scopes"
