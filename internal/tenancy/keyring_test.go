package tenancy_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// vault is a KeyStore in memory that counts what it is asked.
type vault struct {
	mu      sync.Mutex
	keys    map[ipam.ID]ipam.APIKey
	roles   map[string]map[string]tenancy.Held
	used    []map[ipam.ID]time.Time
	failure error
	hold    chan struct{} // when set, look-ups wait for it

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

// fail lets everything fail from now on; nil mends it.
func (v *vault) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failure = err
}

// make puts a key into the vault and answers its token.
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

// uidOf is the UID of a project in the vault.
func uidOf(project string) ipam.ID { return ipam.DerivedID(ipam.ID{}, project) }

// held is a role in one project of the vault.
func held(project string, role tenancy.Role) map[string]tenancy.Held {
	return map[string]tenancy.Held{project: {Project: uidOf(project), Role: role}}
}

func (v *vault) remove(id ipam.ID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.keys, id)
}

// hands is a time that stands still until it is moved.
type hands struct{ at atomic.Int64 }

func (h *hands) now() time.Time        { return time.Unix(1_800_000_000, h.at.Load()).UTC() }
func (h *hands) pass(by time.Duration) { h.at.Add(int64(by)) }

func keyring() (*tenancy.Keyring, *vault, *hands) {
	v := &vault{keys: map[ipam.ID]ipam.APIKey{}, roles: map[string]map[string]tenancy.Held{}}
	h := &hands{}
	return tenancy.NewKeyring(v, h.now), v, h
}

func TestKeyIsItsProjectsCallerWithItsRole(t *testing.T) {
	t.Parallel()
	k, v, _ := keyring()
	_, token := v.make("acme", "ci", tenancy.Provider, time.Time{})
	who, err := k.Authenticate(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, tenancy.Principal{
		Subject: "key:acme/ci", Method: "api-key", Held: held("acme", tenancy.Provider),
	}, who)
}

func TestRefusalsOfKeysReadTheSame(t *testing.T) {
	t.Parallel()
	k, v, h := keyring()
	_, good := v.make("acme", "good", tenancy.Viewer, time.Time{})
	_, expired := v.make("acme", "expired", tenancy.Viewer, h.now())
	_, other := v.make("acme", "other", tenancy.Viewer, time.Time{})
	gone, removed := v.make("acme", "removed", tenancy.Viewer, time.Time{})
	v.remove(gone)
	secretAt := len(good) - 52
	var message string
	for name, token := range map[string]string{
		"WrongSecret":     good[:secretAt] + other[secretAt:],
		"UnknownKey":      removed,
		"Expired":         expired,
		"NoToken":         "",
		"AnotherPrefix":   "curve_" + good[len("carve_"):],
		"TooShort":        good[:len(good)-1],
		"UpperCaseSecret": good[:secretAt] + "ABCD" + good[secretAt+4:],
	} {
		t.Run(name, func(t *testing.T) {
			who, err := k.Authenticate(t.Context(), token)
			require.Zero(t, who)
			var e *ipam.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, ipam.CodeUnauthenticated, e.Code)
			require.Empty(t, e.Fields)
			if message == "" {
				message = e.Message
			}
			require.Equal(t, message, e.Message)
			require.NotContains(t, err.Error()+fmt.Sprintf("%#v", err), good[secretAt:], "the secret is in no error")
			_, err = k.Authenticate(t.Context(), good)
			require.NoError(t, err, "the control")
		})
	}
}

func TestRefusingTakesTheSameLookups(t *testing.T) {
	t.Parallel()
	k, v, h := keyring()
	_, good := v.make("acme", "good", tenancy.Viewer, time.Time{})
	_, other := v.make("acme", "other", tenancy.Viewer, time.Time{})
	_, expired := v.make("acme", "expired", tenancy.Viewer, h.now())
	gone, unknown := v.make("acme", "gone", tenancy.Viewer, time.Time{})
	v.remove(gone)
	for name, token := range map[string]string{"unknown": unknown, "expired": expired, "wrong": good[:len(good)-52] + other[len(other)-52:]} {
		before := v.lookups.Load()
		for range 5 {
			_, err := k.Authenticate(t.Context(), token)
			require.Error(t, err)
		}
		require.EqualValues(t, 1, v.lookups.Load()-before, name)
	}
}

func TestKnowledgeOfAKeyIsFiveSecondsOldAtMost(t *testing.T) {
	t.Parallel()
	k, v, h := keyring()
	id, token := v.make("acme", "ci", tenancy.Viewer, time.Time{})
	ask := func() error {
		_, err := k.Authenticate(t.Context(), token)
		return err
	}
	require.NoError(t, ask())
	v.remove(id)
	h.pass(5*time.Second - 1)
	require.NoError(t, ask())
	require.EqualValues(t, 1, v.lookups.Load(), "from memory")
	h.pass(1)
	require.True(t, ipam.IsCode(ask(), ipam.CodeUnauthenticated), "revoked")
	require.True(t, ipam.IsCode(ask(), ipam.CodeUnauthenticated))
	require.EqualValues(t, 2, v.lookups.Load(), "what does not exist is remembered as well")
}

func TestWhoActsForGoodIsLookedUpNow(t *testing.T) {
	t.Parallel()
	k, v, _ := keyring()
	id, token := v.make("acme", "ci", tenancy.Admin, time.Time{})
	v.roles["corp:alice"] = held("acme", tenancy.Admin)
	now := tenancy.WithNow(t.Context())
	_, err := k.Authenticate(t.Context(), token)
	require.NoError(t, err)
	_, err = k.Authenticate(now, token)
	require.NoError(t, err, "the positive control")
	roles, err := k.MemberRoles(t.Context(), "corp:alice")
	require.NoError(t, err)
	require.NotEmpty(t, roles)

	v.remove(id)
	delete(v.roles, "corp:alice")
	_, err = k.Authenticate(t.Context(), token)
	require.NoError(t, err, "remembered")
	_, err = k.Authenticate(now, token)
	require.True(t, ipam.IsCode(err, ipam.CodeUnauthenticated))
	roles, err = k.MemberRoles(now, "corp:alice")
	require.NoError(t, err)
	require.Empty(t, roles)
	_, err = k.Authenticate(t.Context(), token)
	require.True(t, ipam.IsCode(err, ipam.CodeUnauthenticated), "what was learned is remembered")
}

func TestGivingRightsAwayIsLasting(t *testing.T) {
	t.Parallel()
	for _, a := range declared(t) {
		lasting := strings.HasPrefix(string(a), "projects.create") || strings.HasPrefix(string(a), "projects.delete")
		for _, noun := range []string{"keys", "members", "grants", "quotas"} {
			lasting = lasting || string(a) == noun+".write"
		}
		require.Equal(t, lasting, a.Lasting(), a)
	}
}

func TestExpiryIsExactWhateverIsRemembered(t *testing.T) {
	t.Parallel()
	k, v, h := keyring()
	_, token := v.make("acme", "ci", tenancy.Viewer, h.now().Add(time.Second))
	_, err := k.Authenticate(t.Context(), token)
	require.NoError(t, err)
	h.pass(time.Second - 1)
	_, err = k.Authenticate(t.Context(), token)
	require.NoError(t, err)
	h.pass(1)
	_, err = k.Authenticate(t.Context(), token)
	require.True(t, ipam.IsCode(err, ipam.CodeUnauthenticated))
	require.EqualValues(t, 1, v.lookups.Load())
}

func TestDatabaseThatFailsIsNoRefusalAndIsNotRemembered(t *testing.T) {
	t.Parallel()
	k, v, _ := keyring()
	_, token := v.make("acme", "ci", tenancy.Viewer, time.Time{})
	v.fail(ipam.Errorf(ipam.CodeUnavailable, "Down."))
	_, err := k.Authenticate(t.Context(), token)
	require.True(t, ipam.IsCode(err, ipam.CodeUnavailable))
	v.fail(nil)
	_, err = k.Authenticate(t.Context(), token)
	require.NoError(t, err)
}

func TestManyAtOnceShareOneLookup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, v, _ := keyring()
		_, token := v.make("acme", "ci", tenancy.Viewer, time.Time{})
		v.hold = make(chan struct{})
		ends := make(chan error, 50)
		for range 50 {
			go func() {
				_, err := k.Authenticate(t.Context(), token)
				ends <- err
			}()
		}
		synctest.Wait() // all of them wait
		require.EqualValues(t, 1, v.lookups.Load())
		close(v.hold)
		for range 50 {
			require.NoError(t, <-ends)
		}
	})
}

func TestLookupOutlivesTheRequestThatBeganIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, v, _ := keyring()
		_, token := v.make("acme", "ci", tenancy.Viewer, time.Time{})
		v.hold = make(chan struct{})
		first, leave := context.WithCancel(t.Context())
		ends := make(chan error, 2)
		go func() {
			_, err := k.Authenticate(first, token)
			ends <- err
		}()
		synctest.Wait()
		go func() {
			_, err := k.Authenticate(t.Context(), token)
			ends <- err
		}()
		synctest.Wait()
		leave()
		require.ErrorIs(t, <-ends, context.Canceled, "who leaves does not wait")
		close(v.hold)
		require.NoError(t, <-ends, "who stays is answered")
		require.EqualValues(t, 1, v.lookups.Load())
	})
}

func TestLookupThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, v, _ := keyring()
		_, token := v.make("acme", "ci", tenancy.Viewer, time.Time{})
		v.hold = make(chan struct{}) // never closed
		_, err := k.Authenticate(context.WithoutCancel(t.Context()), token)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// purse is an address with some attempts left.
type purse struct{ left, asked atomic.Int64 }

func (p *purse) Check() error { return nil }
func (p *purse) Reserve() error {
	p.asked.Add(1)
	if p.left.Add(-1) < 0 {
		return ipam.Errorf(ipam.CodeRateLimited, "Too many.")
	}
	return nil
}

func TestLookupsCostTheAddressAnAttempt(t *testing.T) {
	t.Parallel()
	k, v, h := keyring()
	_, token := v.make("acme", "ci", tenancy.Viewer, time.Time{})
	_, second := v.make("acme", "second", tenancy.Viewer, time.Time{})
	p := &purse{}
	p.left.Store(1)
	ctx := tenancy.WithAttempts(t.Context(), p)

	_, err := k.Authenticate(ctx, token)
	require.NoError(t, err)
	require.EqualValues(t, 1, p.asked.Load())
	_, err = k.Authenticate(ctx, second)
	require.True(t, ipam.IsCode(err, ipam.CodeRateLimited))
	require.EqualValues(t, 1, v.lookups.Load(), "nothing was looked up for it")
	_, err = k.Authenticate(ctx, token)
	require.NoError(t, err, "what is remembered costs nothing")
	h.pass(time.Minute)
	_, err = k.Authenticate(ctx, token)
	require.NoError(t, err, "nor does looking again whether it is still valid")
	require.EqualValues(t, 2, v.lookups.Load())

	wrong := token[:len(token)-52] + second[len(second)-52:]
	h.pass(time.Minute)
	_, err = k.Authenticate(ctx, wrong)
	require.True(t, ipam.IsCode(err, ipam.CodeRateLimited), "a guess does, whatever key it names")
}

// slowPoor is an address without attempts that learns so late.
type slowPoor struct{ decide chan struct{} }

func (slowPoor) Check() error { return nil }
func (p slowPoor) Reserve() error {
	<-p.decide
	return ipam.Errorf(ipam.CodeRateLimited, "Too many.")
}

func TestLimitOfWhoAskedFirstIsNotThatOfWhoWaitsWithIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, v, _ := keyring()
		_, token := v.make("acme", "ci", tenancy.Viewer, time.Time{})
		poor := slowPoor{make(chan struct{})}
		first, second := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := k.Authenticate(tenancy.WithAttempts(t.Context(), poor), token)
			first <- err
		}()
		synctest.Wait() // the look-up has begun
		go func() {
			_, err := k.Authenticate(t.Context(), token)
			second <- err
		}()
		synctest.Wait() // and is shared
		close(poor.decide)
		require.True(t, ipam.IsCode(<-first, ipam.CodeRateLimited))
		require.NoError(t, <-second)
		require.EqualValues(t, 1, v.lookups.Load())
	})
}

func TestGuessesDoNotPushOutKeysThatExist(t *testing.T) {
	t.Parallel()
	k, v, _ := keyring()
	_, token := v.make("acme", "ci", tenancy.Viewer, time.Time{})
	_, err := k.Authenticate(t.Context(), token)
	require.NoError(t, err)
	for range 20_000 {
		guess, _ := tenancy.NewToken(ipam.NewID())
		_, err := k.Authenticate(t.Context(), guess)
		require.Error(t, err)
	}
	before := v.lookups.Load()
	_, err = k.Authenticate(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, before, v.lookups.Load())
}

func TestRolesOfMembersAreFiveSecondsOldAtMost(t *testing.T) {
	t.Parallel()
	k, v, h := keyring()
	v.roles["corp:alice"] = held("acme", tenancy.Admin)
	ask := func(subject string) map[string]tenancy.Held {
		roles, err := k.MemberRoles(t.Context(), subject)
		require.NoError(t, err)
		return roles
	}
	for range 3 {
		require.Equal(t, held("acme", tenancy.Admin), ask("corp:alice"))
		require.Empty(t, ask("corp:bob"))
	}
	require.EqualValues(t, 2, v.lookups.Load())
	delete(v.roles, "corp:alice")
	v.roles["corp:bob"] = held("acme", tenancy.Viewer)
	h.pass(5 * time.Second)
	require.Empty(t, ask("corp:alice"))
	require.Equal(t, held("acme", tenancy.Viewer), ask("corp:bob"))
}

func TestUseIsWrittenInOneCall(t *testing.T) {
	t.Parallel()
	k, v, h := keyring()
	one, first := v.make("acme", "one", tenancy.Viewer, time.Time{})
	two, second := v.make("acme", "two", tenancy.Viewer, time.Time{})
	use := func(token string) {
		_, err := k.Authenticate(t.Context(), token)
		require.NoError(t, err)
	}
	flush := func() int64 {
		written, err := k.Flush(t.Context())
		require.NoError(t, err)
		return written
	}
	require.Zero(t, flush())
	require.Empty(t, v.used, "nothing to write")

	begin := h.now()
	use(first)
	use(second)
	h.pass(time.Second)
	use(first)
	require.Empty(t, v.used, "no request writes")
	v.fail(errors.New("down"))
	_, err := k.Flush(t.Context())
	require.Error(t, err)
	v.fail(nil)
	h.pass(time.Second)
	use(second)
	require.EqualValues(t, 2, flush())
	require.Equal(t, map[ipam.ID]time.Time{one: begin.Add(time.Second), two: begin.Add(2 * time.Second)}, v.used[1],
		"what could not be written is kept, and newer use wins")
	require.Zero(t, flush())
	require.Len(t, v.used, 2, "once is enough")
}

func TestRefusedUseIsNotNoted(t *testing.T) {
	t.Parallel()
	k, v, h := keyring()
	_, expired := v.make("acme", "old", tenancy.Viewer, h.now())
	_, err := k.Authenticate(t.Context(), expired)
	require.Error(t, err)
	_, err = k.Flush(t.Context())
	require.NoError(t, err)
	require.Empty(t, v.used)
}
