package codec

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/api/refuse"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestClassesRoundTripThroughJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []ipam.Class{fullClass(), scopedClass(), {Spec: ipam.ClassSpec{Family: ipam.IPv4}.WithDefaults()}} {
		text, err := json.Marshal(ClassSpecOf(c.Spec))
		require.NoError(t, err)
		var wire gen.IPClassSpec
		require.NoError(t, json.Unmarshal(text, &wire))
		got, err := ClassSpec(wire)
		require.NoError(t, err)
		require.Equal(t, c.Spec, got)
	}
}

func TestClassesGetDefaults(t *testing.T) {
	t.Parallel()
	got, err := ClassSpec(gen.IPClassSpec{
		IPFamily: gen.IPFamilyIPv6, AllowedPrefixLengths: &gen.ClassPrefixLengths{}, Parameters: map[string]string{}, PoolPer: []string{},
	})
	require.NoError(t, err)
	require.Equal(t, ipam.ClassSpec{
		Provisioner: ipam.ProvisionerNative, Family: ipam.IPv6, ReclaimPolicy: ipam.ReclaimDelete, Visibility: ipam.VisibilityConsumer,
		PoolSelection: ipam.PoolsByName, UniqueWithin: ipam.UniqueWithinSpace,
	}, got)

	text, err := json.Marshal(ClassSpecOf(got))
	require.NoError(t, err)
	require.JSONEq(t, `{"provisioner": "native", "ipFamily": "IPv6", "visibility": "consumer", "isDefault": false, "reclaimPolicy": "Delete",
		"poolSelection": "FirstFit", "uniqueWithin": "Space"}`, string(text))

	got, err = ClassSpec(gen.IPClassSpec{IPFamily: gen.IPFamilyIPv4, PoolPer: []string{"project"}, PoolPrefixLength: new(20)})
	require.NoError(t, err)
	require.Equal(t, "24h", ClassSpecOf(got).EmptyPoolTTL)
}

func TestClassBoundsAreIndependent(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][2]*int{
		`{"ipFamily": "IPv4", "allowedPrefixLengths": {"min": 0}}`:            {new(0), nil},
		`{"ipFamily": "IPv4", "allowedPrefixLengths": {"max": 28}}`:           {nil, new(28)},
		`{"ipFamily": "IPv4", "allowedPrefixLengths": {"min": 8, "max": 28}}`: {new(8), new(28)},
	} {
		var wire gen.IPClassSpec
		require.NoError(t, json.Unmarshal([]byte(body), &wire))
		got, err := ClassSpec(wire)
		require.NoError(t, err)
		require.Equal(t, want, [2]*int{got.MinPrefixLength, got.MaxPrefixLength})
		require.Equal(t, wire.AllowedPrefixLengths, ClassSpecOf(got).AllowedPrefixLengths)
	}
}

func TestDurations(t *testing.T) {
	t.Parallel()

	t.Run("AreWrittenShort", func(t *testing.T) {
		t.Parallel()
		for text, want := range map[string]string{
			"72h": "72h", "72h0m0s": "72h", "0s": "0s", "0h0m0s": "0s", "90m": "1h30m", "3600s": "1h", "1h0m5s": "1h0m5s", "10m0s": "10m",
			"100h": "100h", "20h20m": "20h20m", "45s": "45s", "8760h": "8760h",
		} {
			d, err := duration("/spec/reuseAfter", text)
			require.NoError(t, err)
			require.Equal(t, want, durationOf(d), text)
		}
	})

	t.Run("StayAbsent", func(t *testing.T) {
		t.Parallel()
		d, err := duration("/spec/reuseAfter", "")
		require.NoError(t, err)
		require.Nil(t, d)
		require.Empty(t, durationOf(nil))
		require.NotEqual(t, durationOf(nil), durationOf(new(time.Duration(0))))
	})

	t.Run("RoundTripThroughJSON", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			want := time.Duration(rapid.Int64Range(0, int64(ipam.MaxDuration/time.Second)).Draw(t, "seconds")) * time.Second
			text := durationOf(&want)
			got, err := duration("/spec/reuseAfter", text)
			require.NoError(t, err)
			require.Equal(t, &want, got)
			require.Regexp(t, `^([0-9]{1,4}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$`, text, "what we write can be sent back")
			require.GreaterOrEqual(t, len(text), 2)
		})
	})

	t.Run("InvalidOnesAreRefused", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{"1d", "5", "h", "1h 2m", "999999999999h"} {
			_, err := duration("/spec/emptyPoolTTL", text)
			var e *ipam.Error
			require.ErrorAs(t, err, &e, text)
			require.Equal(t, []ipam.Field{{Pointer: "/spec/emptyPoolTTL", Detail: refuse.DurationSentence}}, e.Fields)
		}
	})
}

func TestClassStatus(t *testing.T) {
	t.Parallel()

	t.Run("OfABackedClass", func(t *testing.T) {
		t.Parallel()
		c := fullClass()
		require.Equal(t, gen.IPClassStatus{
			BackingPools: 2, Capacity: gen.ClassCapacity{Total: "131072", Available: "98304"}, UtilizationPercent: 25, LargestPrefixLength: new(22),
			Conditions: []gen.Condition{{
				Type: "Ready", Status: gen.ConditionStatusTrue, Reason: "Backed", Message: "2 pools back the class.", LastTransitionTime: c.CreatedAt,
			}},
		}, ClassOf(c).Status)
	})

	t.Run("OfAScopedClassIsExact", func(t *testing.T) {
		t.Parallel()
		s := ClassOf(scopedClass()).Status
		require.Equal(t, gen.ClassCapacity{Total: "340282366920938463463374607431768211456", Available: "0"}, s.Capacity)
		require.Equal(t, int64(3), s.ScopedPools)
		require.InDelta(t, 100.0, s.UtilizationPercent, 0)
		require.Nil(t, s.LargestPrefixLength)
		require.Equal(t, "1 pool backs the class.", s.Conditions[0].Message)
	})

	t.Run("OfAClassWithoutPools", func(t *testing.T) {
		t.Parallel()
		c := ipam.Class{Metadata: meta("web"), Spec: fullClass().Spec, Status: ipam.ClassStatus{Total: "0", Available: "0"}}
		require.Equal(t, gen.IPClassStatus{
			Capacity: gen.ClassCapacity{Total: "0", Available: "0"},
			Conditions: []gen.Condition{{
				Type: "Ready", Status: gen.ConditionStatusFalse, Reason: "NoBackingPools",
				Message: "No pool lists the class; add its name to classNames of a pool.", LastTransitionTime: c.CreatedAt,
			}},
		}, ClassOf(c).Status)
	})
}
