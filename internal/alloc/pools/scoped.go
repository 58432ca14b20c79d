package pools

// ScopeKeeper is the subject that makes and removes scoped pools. It hides the callers' names, which the pool's owner must not see.
const ScopeKeeper = "carve:scopes"
