package ipam_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/ipam"
)

func TestNewIDsAreRandomUUIDs(t *testing.T) {
	t.Parallel()
	seen := map[ipam.ID]bool{}
	for range 1000 {
		id := ipam.NewID()
		u := uuid.UUID(id)
		require.Equal(t, uuid.Version(4), u.Version())
		require.Equal(t, uuid.RFC4122, u.Variant())
		require.Equal(t, u.String(), id.String())
		require.False(t, seen[id] || id.IsZero())
		seen[id] = true
	}
	require.True(t, ipam.ID{}.IsZero())
}

func TestDerivedIDsAreDeterministic(t *testing.T) {
	t.Parallel()
	a, b := ipam.NewID(), ipam.NewID()
	first, second := ipam.DerivedID(a, "x"), ipam.DerivedID(a, "x")
	require.Equal(t, first, second)
	require.NotEqual(t, ipam.DerivedID(a, "x"), ipam.DerivedID(a, "y"))
	require.NotEqual(t, ipam.DerivedID(a, "x"), ipam.DerivedID(b, "x"))
	u := uuid.UUID(ipam.DerivedID(a, "x"))
	require.Equal(t, uuid.Version(8), u.Version())
	require.Equal(t, uuid.RFC4122, u.Variant())
}

func TestIDHasOneTextForm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := ipam.ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		parsed, err := ipam.ParseID(id.String())
		require.NoError(t, err)
		require.Equal(t, id, parsed)
		raw, err := json.Marshal(map[ipam.ID]ipam.ID{id: id})
		require.NoError(t, err)
		back := map[ipam.ID]ipam.ID{}
		require.NoError(t, json.Unmarshal(raw, &back))
		require.Equal(t, map[ipam.ID]ipam.ID{id: id}, back)
	})
	good := "0a50e28e-55f9-4288-b05b-3112e54a1ea7"
	for _, bad := range []string{
		"", good[:35], good + "0", strings.ToUpper(good), "{" + good + "}", "urn:uuid:" + good, strings.ReplaceAll(good, "-", ""),
		strings.Replace(good, "-", "x", 1), "ga50e28e-55f9-4288-b05b-3112e54a1ea7", "0a50e28e-55f9-4288-b05b-3112e54a1ea\x00",
	} {
		_, err := ipam.ParseID(bad)
		require.Error(t, err, bad)
		id := ipam.NewID()
		was := id
		require.Error(t, id.UnmarshalText([]byte(bad)))
		require.Equal(t, was, id, "what cannot be read changes nothing")
	}
}
