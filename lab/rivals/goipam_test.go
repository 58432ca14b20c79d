package rivals

import (
	"encoding/json"
	"testing"

	goipam "github.com/metal-stack/go-ipam"
	"github.com/stretchr/testify/require"
)

// What is seeded must be what go-ipam would have written itself, or its figures would be of something else.
func TestEmptyPrefixIsWhatGoIPAMWrites(t *testing.T) {
	t.Parallel()
	manager := goipam.New(t.Context())
	_, err := manager.NewPrefix(t.Context(), poolCIDR)
	require.NoError(t, err)
	dump, err := manager.Dump(t.Context())
	require.NoError(t, err)
	ours, err := json.Marshal([]storedPrefix{emptyPrefix(poolBlock)})
	require.NoError(t, err)
	require.JSONEq(t, dump, string(ours))
}

func TestHeldAddressesAreHeld(t *testing.T) {
	t.Parallel()
	manager := loaded(t, []storedPrefix{heldAddresses(20)})
	ip, err := manager.AcquireIP(t.Context(), poolCIDR)
	require.NoError(t, err)
	require.Equal(t, "10.0.0.21", ip.IP.String())
}

func TestHeldNetworksAreWhatGoIPAMWrites(t *testing.T) {
	t.Parallel()
	manager := goipam.New(t.Context())
	_, err := manager.NewPrefix(t.Context(), poolCIDR)
	require.NoError(t, err)
	parent, children := heldNetworks(3)
	for _, child := range children {
		_, err := manager.AcquireSpecificChildPrefix(t.Context(), poolCIDR, child.Cidr)
		require.NoError(t, err)
	}
	dump, err := manager.Dump(t.Context())
	require.NoError(t, err)
	var theirs []storedPrefix
	require.NoError(t, json.Unmarshal([]byte(dump), &theirs))
	for i := range theirs {
		theirs[i].Version = 0 // how often it was written
	}
	require.ElementsMatch(t, append(children, parent), theirs)
}

func loaded(t *testing.T, prefixes []storedPrefix) goipam.Ipamer {
	t.Helper()
	dump, err := json.Marshal(prefixes)
	require.NoError(t, err)
	manager := goipam.New(t.Context())
	require.NoError(t, manager.Load(t.Context(), string(dump)))
	return manager
}
