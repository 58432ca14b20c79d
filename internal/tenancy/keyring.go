package tenancy

import (
	"context"
	"crypto/subtle"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// How old what a Keyring knows may be, and how many keys (and how many subjects) it remembers.
const (
	knownFor  = 5 * time.Second
	knownSize = 16384
)

// Keyring authenticates API keys and knows the roles of members. What it reads is at most five seconds old, so a revoked key
// and a removed member lose their rights within five seconds on every server. Expiry needs no look-up and is exact.
type Keyring struct {
	store   KeyStore
	clock   func() time.Time
	keys    *recent[keyFacts]
	members *recent[map[string]Held]
	used    uses[ipam.ID]
}

// keyFacts is what is remembered of a key.
type keyFacts struct {
	key ipam.APIKey // its hash and expiry
	who Principal
}

// nobodysHash stands for the hash of a key that does not exist, so that refusing it takes the same work. No secret is
// known whose hash it is.
var nobodysHash = make([]byte, 32)

// NewKeyring makes a Keyring. clock nil: keys expire by the database's clock, and what is remembered grows old by this process's own, which nobody sets.
func NewKeyring(store KeyStore, clock func() time.Time) *Keyring {
	ticks := clock
	if clock == nil {
		clock, ticks = func() time.Time { return store.Now() }, time.Now
	}
	return &Keyring{
		store: store, clock: clock,
		keys:    newRecent[keyFacts](ticks, knownFor, knownSize),
		members: newRecent[map[string]Held](ticks, knownFor, knownSize),
	}
}

// Authenticate answers whose key a token is: unauthenticated when it is none that is valid now, in one and the same way
// whether there is no such key, its secret is another one, or it has expired.
func (k *Keyring) Authenticate(ctx context.Context, token string) (Principal, error) {
	_, facts, err := k.authenticate(ctx, token)
	return facts.who, err
}

func (k *Keyring) authenticate(ctx context.Context, token string) (id ipam.ID, facts keyFacts, err error) {
	id, secret, ok := ParseToken(token)
	if !ok {
		return id, facts, NotValid("is not spelled like an API key")
	}
	hash, name := HashSecret(secret), string(id[:])
	facts, found, err := k.facts(ctx, id, name, hash)
	if err != nil {
		return id, keyFacts{}, err
	}
	matches, now := same(hash, facts, found), k.clock()
	switch {
	case !found:
		return id, keyFacts{}, NotValid("names an API key that does not exist")
	case !matches:
		return id, keyFacts{}, NotValid("has another secret than its API key")
	case facts.key.Expired(now):
		return id, keyFacts{}, NotValid("has expired")
	}
	k.used.note(id, now)
	return id, facts, nil
}

// held answers whose a key is, for who has shown before that it has it; found is false when the key is gone or has expired.
func (k *Keyring) held(ctx context.Context, id ipam.ID) (who Principal, found bool, err error) {
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

// facts answers what is known of a key, or looks it up.
func (k *Keyring) facts(ctx context.Context, id ipam.ID, name string, hash []byte) (facts keyFacts, found bool, err error) {
	if !wantsNow(ctx) { // as get does, before anything is made that only a look-up needs
		if facts, found, known := k.keys.fresh(name); known {
			return facts, found, nil
		}
	}
	admit := AttemptsOf(ctx).Reserve
	if last, ok := k.keys.last(name); same(hash, last, ok) {
		admit = unlimited{}.Reserve // it was valid a while ago: this is no guess
	}
	return k.keys.get(ctx, name, admit, func(ctx context.Context) (keyFacts, bool, error) {
		return k.load(ctx, id)
	})
}

// same compares the hash of a secret with that of a key, in the same time whether there is one.
func same(hash []byte, facts keyFacts, found bool) bool {
	stored := nobodysHash
	if found {
		stored = facts.key.Hash
	}
	return subtle.ConstantTimeCompare(hash, stored) == 1 && found
}

// NotValid refuses credentials. Every refusal reads the same; why is for the log alone, and must not hold the credentials.
func NotValid(why string) error {
	return ipam.Errorf(ipam.CodeUnauthenticated, "The credentials in the header Authorization are not valid.").Because(reason(why))
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

// MemberRoles answers the roles that a subject holds as a member, by project. The map is shared: it is not to be written.
func (k *Keyring) MemberRoles(ctx context.Context, subject string) (map[string]Held, error) {
	roles, _, err := k.members.get(ctx, subject, unlimited{}.Reserve, func(ctx context.Context) (map[string]Held, bool, error) {
		roles, err := k.store.MemberRoles(ctx, subject)
		return roles, len(roles) > 0, err
	})
	return roles, err
}

// Flush writes when keys were last used, all in one call, and says of how many. What cannot be written is kept for the next time.
func (k *Keyring) Flush(ctx context.Context) (written int64, err error) {
	return k.used.flush(ctx, k.store.KeysUsed)
}
