package tenancy_test

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// vault is a KeyStore in memory that counts its calls.
type vault struct {
	mu      sync.Mutex
	keys    map[ipam.ID]ipam.APIKey
	roles   map[string]map[string]tenancy.Held
	used    []map[ipam.ID]time.Time
	failure error
	hold    chan struct{} // if set, look-ups wait until it is closed

	lookups atomic.Int64
}

func (*vault) Now() time.Time { return time.Now() }

func (v *vault) KeyByID(ctx context.Context, id ipam.ID) (ipam.APIKey, bool, error) {
	v.lookups.Add(1)
	if v.hold != nil {
		select {
		case <-v.hold:
		case <-ctx.Done():
			return ipam.APIKey{}, false, ctx.Err()
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	k, ok := v.keys[id]
	return k, ok, v.failure
}

func (v *vault) MemberRoles(_ context.Context, subject string) (map[string]tenancy.Held, error) {
	v.lookups.Add(1)
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.roles[subject]), v.failure
}

func (v *vault) KeysUsed(_ context.Context, used map[ipam.ID]time.Time) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.used = append(v.used, maps.Clone(used))
	return v.failure
}

// fail makes every later call fail with err. If err is nil, calls succeed again.
func (v *vault) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failure = err
}

// make adds a key to the vault and returns its token.
func (v *vault) make(project, name string, role tenancy.Role, expires time.Time) (ipam.ID, string) {
	id := ipam.NewID()
	token, secret := tenancy.NewToken(id)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.keys[id] = ipam.APIKey{
		Metadata: ipam.Metadata{Name: name, Project: project, UID: id}, ProjectID: uidOf(project), Hash: tenancy.HashSecret(secret),
		Spec: ipam.APIKeySpec{Role: string(role), ExpiresAt: expires},
	}
	return id, token
}

// uidOf returns the UID of a project in the vault.
func uidOf(project string) ipam.ID { return ipam.DerivedID(ipam.ID{}, project) }

// held returns a role in one project of the vault, as MemberRoles returns it.
func held(project string, role tenancy.Role) map[string]tenancy.Held {
	return map[string]tenancy.Held{project: {Project: uidOf(project), Role: role}}
}

func (v *vault) remove(id ipam.ID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.keys, id)
}

// hands is a clock that only the test moves.
type hands struct{ at atomic.Int64 }

func (h *hands) now() time.Time        { return time.Unix(1_800_000_000, h.at.Load()).UTC() }
func (h *hands) pass(by time.Duration) { h.at.Add(int64(by)) }

func keyring() (*tenancy.Keyring, *vault, *hands) {
	v := &vault{keys: map[ipam.ID]ipam.APIKey{}, roles: map[string]map[string]tenancy.Held{}}
	h := &hands{}
	return tenancy.NewKeyring(v, h.now), v, h
}
