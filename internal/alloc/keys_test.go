package alloc_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/access"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func TestTokenIsReturnedOnlyByTheKeyCreation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	wanted := apiKey("ci", tenancy.Consumer)
	wanted.Labels, wanted.Spec.Description = labels("team", "a"), "Creates clusters"
	dryRun := key("k", "ci")
	dryRun.DryRun = true
	foretold, err := b.CreateKey(b.ctx, project, wanted, dryRun)
	require.NoError(t, err)
	require.Empty(t, foretold.Value.Token)

	made, err := b.CreateKey(b.ctx, project, wanted, key("k", "ci"))
	require.NoError(t, err)
	require.False(t, made.Replayed)
	id, secret, ok := tenancy.ParseToken(made.Value.Token)
	require.True(t, ok)
	require.Equal(t, made.Value.UID, id)
	require.Equal(t, tenancy.HashSecret(secret), made.Value.Hash)

	again, err := b.CreateKey(b.ctx, project, wanted, key("k", "ci"))
	require.NoError(t, err)
	require.True(t, again.Replayed)
	require.Empty(t, again.Value.Token)
	require.Empty(t, again.Value.Hash)
	require.Equal(t, made.Value.Metadata, again.Value.Metadata)
	require.Equal(t, made.Value.Spec, again.Value.Spec)

	read, err := b.GetKey(b.ctx, project, "ci")
	require.NoError(t, err)
	require.Empty(t, read.Token)
	for _, v := range []any{read, made.Value, again.Value} {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		require.NotContains(t, string(text), made.Value.Token[39:])
	}
	made.Value.Token, made.Value.Hash, read.Hash = "", nil, nil
	require.Equal(t, made.Value, read)
	_, err = b.CreateKey(b.ctx, project, wanted, key("k", "another"))
	refused(t, err, ipam.CodeIdempotencyMismatch)
	_, err = b.CreateKey(b.ctx, project, wanted, usecase.Request{})
	refused(t, err, ipam.CodeAlreadyExists)
}

// The secret of a key appears in no row of any table, in any encoding.
func TestKeySecretIsNeverStored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tokens := []string{
		b.mint(t, project, apiKey("a", tenancy.Admin)).Token,
		b.mint(t, ipam.PlatformProject, apiKey("b", tenancy.Viewer)).Token,
	}
	keyed, err := b.CreateKey(b.ctx, project, apiKey("c", tenancy.Viewer), key("k", "c"))
	require.NoError(t, err)
	first, made, err := b.EnsureBootstrap(b.ctx)
	require.NoError(t, err)
	require.True(t, made)
	second, err := b.Bootstrap(b.ctx)
	require.NoError(t, err)
	require.NoError(t, b.DeleteKey(b.ctx, project, "a", usecase.Request{}))
	tokens = append(tokens, keyed.Value.Token, first, second)

	rows := b.texts(t)
	found := false
	for _, token := range tokens {
		_, secret, ok := tenancy.ParseToken(token)
		require.True(t, ok)
		raw := secret[:]
		for _, row := range rows {
			for _, spelling := range []string{
				token[39:], hex.EncodeToString(raw), base64.StdEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw),
			} {
				require.NotContains(t, strings.ToLower(row), strings.ToLower(spelling))
			}
			found = found || strings.Contains(row, hex.EncodeToString(tenancy.HashSecret(secret)))
		}
	}
	require.True(t, found, "this search finds what is there: the hash")
}

// texts returns all rows of all tables as the database prints them. BYTEA values are in hexadecimal, and JSON values are unchanged.
func (b *bundle) texts(t *testing.T) []string {
	t.Helper()
	conn, err := pgx.Connect(b.ctx, b.dsn)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(b.ctx)) }()
	var out []string
	for table := range b.dump(t) {
		rows, err := conn.Query(b.ctx, fmt.Sprintf("SELECT CAST(r AS TEXT) FROM %s AS r", pgx.Identifier{table}.Sanitize()))
		require.NoError(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		out = append(out, lines...)
		if table == "idempotency_keys" {
			bodies, err := conn.Query(b.ctx, "SELECT encode(answer, 'escape') FROM idempotency_keys")
			require.NoError(t, err)
			lines, err := pgx.CollectRows(bodies, pgx.RowTo[string])
			require.NoError(t, err)
			require.NotEmpty(t, lines)
			out = append(out, lines...)
		}
	}
	return out
}

func TestInvalidAPIKeyIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := b.dump(t)
	for _, c := range []struct {
		name, pointer string
		change        func(*ipam.APIKey)
	}{
		{"NoName", "/metadata/name", func(k *ipam.APIKey) { k.Name = "" }},
		{"NoRole", "/spec/role", func(k *ipam.APIKey) { k.Spec.Role = "" }},
		{"AnotherRole", "/spec/role", func(k *ipam.APIKey) { k.Spec.Role = "root" }},
		{"ExpiredBefore", "/spec/expiresAt", func(k *ipam.APIKey) { k.Spec.ExpiresAt = b.clock.read().Add(-time.Second) }},
		{"ExpiresNow", "/spec/expiresAt", func(k *ipam.APIKey) { k.Spec.ExpiresAt = b.clock.read() }},
		{"ExpiresWithinAMicrosecond", "/spec/expiresAt", func(k *ipam.APIKey) { k.Spec.ExpiresAt = b.clock.read().Add(time.Nanosecond) }},
		{"ExpiresAfterAllTime", "/spec/expiresAt", func(k *ipam.APIKey) { k.Spec.ExpiresAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }},
		{"LongDescription", "/spec/description", func(k *ipam.APIKey) { k.Spec.Description = strings.Repeat("x", 1025) }},
		{"Label", "/metadata/labels/a", func(k *ipam.APIKey) { k.Labels = labels("a", "b c") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := apiKey("ci", tenancy.Viewer)
			c.change(&k)
			_, err := b.CreateKey(b.ctx, project, k, usecase.Request{})
			require.Equal(t, c.pointer, refused(t, err, ipam.CodeInvalidArgument).Fields[0].Pointer)
		})
	}
	require.Equal(t, before, b.dump(t))
}

func TestKeysOfAProjectAreLimited(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range access.MaxKeys {
		b.mint(t, project, apiKey(fmt.Sprintf("k%03d", i), tenancy.Viewer))
	}
	_, err := b.CreateKey(b.ctx, project, apiKey("more", tenancy.Viewer), usecase.Request{})
	refusedAsFull(t, err, "256")
	require.NoError(t, b.DeleteKey(b.ctx, project, "k007", usecase.Request{}))
	b.mint(t, project, apiKey("more", tenancy.Viewer))
}

func TestKeysAreListedByNameAndRevoked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ends := apiKey("b", tenancy.Viewer)
	ends.Spec.ExpiresAt = b.clock.read().Add(time.Hour).In(time.FixedZone("elsewhere", 3600))
	for _, k := range []ipam.APIKey{apiKey("c", tenancy.Viewer), ends, apiKey("a", tenancy.Admin)} {
		b.mint(t, project, k)
	}
	for _, limit := range []int{1, 2, 100} {
		var got []string
		for _, k := range all(t, limit, func(n int, c string) (paging.Page[ipam.APIKey], error) {
			return b.ListKeys(b.ctx, project, n, c, usecase.Reading{})
		}) {
			got = append(got, k.Name+" "+k.Phase(b.clock.read()))
		}
		require.Equal(t, []string{"a Active", "b Active", "c Active"}, got)
	}
	b.clock.move(time.Hour)
	expired, err := b.GetKey(b.ctx, project, "b")
	require.NoError(t, err)
	require.Equal(t, "Expired", expired.Phase(b.clock.read()), "at once")
	refused(t, b.DeleteKey(b.ctx, project, "b", ifMatch(ipam.NewID())), ipam.CodePreconditionFailed)
	require.NoError(t, b.DeleteKey(b.ctx, project, "b", ifMatch(expired.Revision)))
	refused(t, b.DeleteKey(b.ctx, project, "b", usecase.Request{}), ipam.CodeNotFound)
	_, err = b.GetKey(b.ctx, project, "b")
	refused(t, err, ipam.CodeNotFound)
	_, err = b.GetKey(b.ctx, ipam.PlatformProject, "a")
	refused(t, err, ipam.CodeNotFound)
}

func TestFirstStartCreatesAnAdminKeyIfNoneExists(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := ipam.PlatformProject
	token, made, err := b.EnsureBootstrap(t.Context())
	require.NoError(t, err)
	require.True(t, made)
	k, err := b.GetKey(b.ctx, in, access.BootstrapKey)
	require.NoError(t, err)
	id, secret, ok := tenancy.ParseToken(token)
	require.True(t, ok)
	require.Equal(t, []any{k.UID, k.Hash, "admin", "system"}, []any{id, tenancy.HashSecret(secret), k.Spec.Role, k.CreatedBy})
	last := b.events(t, in, trail.EventFilter{Operation: "bootstrap"})
	require.Len(t, last, 1)
	require.Equal(t, []string{"system", "system", "ApiKey", "bootstrap"}, []string{last[0].Subject, last[0].Method, last[0].Kind, last[0].Name})

	before := b.dump(t)
	token, made, err = b.EnsureBootstrap(t.Context())
	require.NoError(t, err)
	require.False(t, made)
	require.Empty(t, token)
	require.Equal(t, before, b.dump(t), "the second start finds it")

	b.join(t, in, "corp:alice", tenancy.Admin)
	require.NoError(t, b.DeleteKey(b.ctx, in, access.BootstrapKey, usecase.Request{}))
	_, made, err = b.EnsureBootstrap(t.Context())
	require.NoError(t, err)
	require.False(t, made, "somebody else is admin")
}

func TestFirstStartCreatesItsKeyIfTheNameIsTaken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mint(t, ipam.PlatformProject, apiKey(access.BootstrapKey, tenancy.Viewer))
	token, made, err := b.EnsureBootstrap(t.Context())
	require.NoError(t, err)
	require.True(t, made)
	_, _, ok := tenancy.ParseToken(token)
	require.True(t, ok)
	page, err := b.ListKeys(b.ctx, ipam.PlatformProject, 10, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, page.Items, 2)
	require.Regexp(t, "^bootstrap-[a-z0-9]{6}$", page.Items[1].Name)
}

func TestEachBootstrapCreatesAnotherAdminKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.join(t, ipam.PlatformProject, "corp:alice", tenancy.Admin)
	seen := map[string]bool{}
	for range 3 {
		token, err := b.Bootstrap(t.Context())
		require.NoError(t, err)
		_, _, ok := tenancy.ParseToken(token)
		require.True(t, ok && !seen[token])
		seen[token] = true
	}
	page, err := b.ListKeys(b.ctx, ipam.PlatformProject, 10, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, page.Items, 3)
	require.Len(t, b.events(t, ipam.PlatformProject, trail.EventFilter{Operation: "bootstrap", Kind: "ApiKey"}), 3)
}

// Two servers start at the same time on an empty database. One server creates the key, and the other server finds this key.
func TestConcurrentFirstStartsCreateOneAdminKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var tokens [2]string
	var made [2]bool
	ensure := func(i int) func(*alloc.Service) error {
		return func(s *alloc.Service) (err error) {
			tokens[i], made[i], err = s.EnsureBootstrap(b.ctx)
			return err
		}
	}
	errs := b.crossed(t, "key_create", ensure(0), "key_create", ensure(1))
	require.NoError(t, errs[0])
	require.NoError(t, errs[1])
	require.NotEqual(t, made[0], made[1], "one of them")
	page, err := b.ListKeys(b.ctx, ipam.PlatformProject, 10, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	for i := range tokens {
		require.Equal(t, made[i], tokens[i] != "")
	}
}
