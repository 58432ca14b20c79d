package tenancy

import (
	"context"
	"crypto/subtle"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Limits on a Keyring's caches: the maximum age of an entry, and the maximum number of keys and of subjects.
const (
	cacheTTL  = 5 * time.Second
	cacheSize = 16384
)

// Keyring authenticates API keys and reads members' roles. Its cached data is at most five seconds old. So a revoked key and a removed member lose
// their rights within five seconds on every server. An expired key loses its rights at once, because the cache contains its expiry.
type Keyring struct {
	store   KeyStore
	clock   func() time.Time
	keys    *ttlCache[keyFacts]
	members *ttlCache[map[string]Held]
	used    lastUses[ipam.ID]
}

// keyFacts is a key's cached state.
type keyFacts struct {
	key ipam.APIKey // only its hash and spec are set
	who Principal
}

// dummyHash stands in for the hash when a key does not exist, so that the refusal takes the same time. No known secret has this hash.
var dummyHash = make([]byte, 32)

// NewKeyring returns a Keyring. If clock is nil, keys expire by the database's clock. Cache entries then expire by this process's own clock, which is
// monotonic.
func NewKeyring(store KeyStore, clock func() time.Time) *Keyring {
	ticks := clock
	if clock == nil {
		clock, ticks = func() time.Time { return store.Now() }, time.Now
	}
	return &Keyring{
		store: store, clock: clock,
		keys:    newTTLCache[keyFacts](ticks, cacheTTL, cacheSize),
		members: newTTLCache[map[string]Held](ticks, cacheTTL, cacheSize),
	}
}

// Authenticate returns the caller for a token. It returns the same unauthenticated error if the key does not exist, if the secret is wrong, and if
// the key has expired.
func (k *Keyring) Authenticate(ctx context.Context, token string) (Principal, error) {
	_, facts, err := k.authenticate(ctx, token)
	return facts.who, err
}

func (k *Keyring) authenticate(ctx context.Context, token string) (id ipam.ID, facts keyFacts, err error) {
	id, secret, ok := ParseToken(token)
	if !ok {
		return id, facts, NotValid("does not have the form of an API key")
	}
	hash, name := HashSecret(secret), string(id[:])
	facts, found, err := k.facts(ctx, id, name, hash)
	if err != nil {
		return id, keyFacts{}, err
	}
	matches, now := sameHash(hash, facts, found), k.clock()
	switch {
	case !found:
		return id, keyFacts{}, NotValid("names an API key that does not exist")
	case !matches:
		return id, keyFacts{}, NotValid("has the wrong secret for its API key")
	case facts.key.Expired(now):
		return id, keyFacts{}, NotValid("has expired")
	}
	k.used.note(id, now)
	return id, facts, nil
}

// callerOf returns the caller for a key that was authenticated earlier, for a console session. found is false if the key was deleted or has expired.
func (k *Keyring) callerOf(ctx context.Context, id ipam.ID) (who Principal, found bool, err error) {
	facts, found, err := k.keys.get(ctx, string(id[:]), unlimited{}.Reserve, func(ctx context.Context) (keyFacts, bool, error) {
		return k.load(ctx, id)
	})
	now := k.clock()
	if err != nil || !found || facts.key.Expired(now) {
		return Principal{}, false, err
	}
	k.used.note(id, now)
	return facts.who, true, nil
}

// facts returns a key's cached state, or reads it from the database.
func (k *Keyring) facts(ctx context.Context, id ipam.ID, name string, hash []byte) (facts keyFacts, found bool, err error) {
	if !skipsCache(ctx) { // get checks this too; checked here to avoid the preparations for a look-up
		if facts, found, known := k.keys.fromCache(name); known {
			return facts, found, nil
		}
	}
	admit := AttemptsOf(ctx).Reserve
	if last, ok := k.keys.lastFound(name); sameHash(hash, last, ok) {
		admit = unlimited{}.Reserve // the token was valid recently, so this is no guess
	}
	return k.keys.get(ctx, name, admit, func(ctx context.Context) (keyFacts, bool, error) {
		return k.load(ctx, id)
	})
}

// sameHash compares the hash of a secret with the hash of a key. It takes the same time if the key does not exist.
func sameHash(hash []byte, facts keyFacts, found bool) bool {
	stored := dummyHash
	if found {
		stored = facts.key.Hash
	}
	return subtle.ConstantTimeCompare(hash, stored) == 1 && found
}

// NotValid returns the error for invalid credentials. All such errors look the same to the caller. cause is only for the log, and must not contain
// the credentials.
func NotValid(cause string) error {
	return ipam.Errorf(ipam.CodeUnauthenticated, "The credentials in the header Authorization are not valid.").WithCause(reason(cause))
}

type reason string

func (r reason) Error() string { return "the credentials' token " + string(r) }

func (k *Keyring) load(ctx context.Context, id ipam.ID) (keyFacts, bool, error) {
	key, ok, err := k.store.KeyByID(ctx, id)
	if err != nil || !ok {
		return keyFacts{}, false, err
	}
	held := map[string]Held{}
	if role := Role(key.Spec.Role); role.Valid() {
		held[key.Project] = Held{Project: key.ProjectID, Role: role}
	}
	who := Principal{Subject: "key:" + key.Project + "/" + key.Name, Method: "api-key", Key: id, Held: held}
	return keyFacts{key: ipam.APIKey{Hash: key.Hash, Spec: key.Spec}, who: who}, true, nil
}

// MemberRoles returns a subject's roles as a member, by project. Callers share the map and must not change it.
func (k *Keyring) MemberRoles(ctx context.Context, subject string) (map[string]Held, error) {
	roles, _, err := k.members.get(ctx, subject, unlimited{}.Reserve, func(ctx context.Context) (map[string]Held, bool, error) {
		roles, err := k.store.MemberRoles(ctx, subject)
		return roles, len(roles) > 0, err
	})
	return roles, err
}

// Flush writes the times at which keys were last used, in one call, and returns their number. If the write fails, the times stay for the next call.
func (k *Keyring) Flush(ctx context.Context) (written int64, err error) {
	return k.used.flush(ctx, k.store.KeysUsed)
}
