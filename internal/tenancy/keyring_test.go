package tenancy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func TestKeyYieldsItsSubjectAndRole(t *testing.T) {
	t.Parallel()
	k, v, _ := keyring()
	id, token := v.make("acme", "ci", tenancy.Provider, time.Time{})
	who, err := k.Authenticate(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, tenancy.Principal{
		Subject: "key:acme/ci", Method: "api-key", Key: id, Held: held("acme", tenancy.Provider),
	}, who)
}

func TestKeyRefusalsHaveOneMessage(t *testing.T) {
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

func TestKeyRefusalsTakeTheSameLookups(t *testing.T) {
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

func TestKeyIsCachedForAtMostFiveSeconds(t *testing.T) {
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

func TestLastingActionsSkipTheCache(t *testing.T) {
	t.Parallel()
	k, v, _ := keyring()
	id, token := v.make("acme", "ci", tenancy.Admin, time.Time{})
	v.roles["corp:alice"] = held("acme", tenancy.Admin)
	now := tenancy.WithoutCache(t.Context())
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

func TestActionsThatGrantRightsAreLasting(t *testing.T) {
	t.Parallel()
	for _, a := range declared(t) {
		lasting := strings.HasPrefix(string(a), "projects.create") || strings.HasPrefix(string(a), "projects.delete")
		for _, noun := range []string{"keys", "members", "grants", "quotas", "webhooks"} {
			lasting = lasting || string(a) == noun+".write"
		}
		require.Equal(t, lasting, a.Lasting(), a)
	}
}

func TestKeyExpiryIsExactDespiteTheCache(t *testing.T) {
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

func TestDatabaseErrorIsUnavailableAndNotCached(t *testing.T) {
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

func TestMemberRolesAreCachedForAtMostFiveSeconds(t *testing.T) {
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

func TestKeyUsesAreWrittenInOneCall(t *testing.T) {
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

func TestRefusedKeyUseIsNotRecorded(t *testing.T) {
	t.Parallel()
	k, v, h := keyring()
	_, expired := v.make("acme", "old", tenancy.Viewer, h.now())
	_, err := k.Authenticate(t.Context(), expired)
	require.Error(t, err)
	_, err = k.Flush(t.Context())
	require.NoError(t, err)
	require.Empty(t, v.used)
}
