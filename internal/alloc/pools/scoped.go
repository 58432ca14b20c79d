package pools

// ScopeKeeper is the subject that makes and removes scoped pools. It is no caller's name: theirs are not for the pool's owner to see.
const ScopeKeeper = "carve:scopes"
