package ipam_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/ipam"
)

func TestClassSpecDefaults(t *testing.T) {
	t.Parallel()
	got := ipam.ClassSpec{Family: ipam.IPv6}.WithDefaults()
	require.Equal(t, ipam.ClassSpec{
		Provisioner: ipam.ProvisionerNative, Family: ipam.IPv6, ReclaimPolicy: ipam.ReclaimDelete,
		Visibility: ipam.VisibilityConsumer, PoolSelection: ipam.PoolsByName, UniqueWithin: ipam.UniqueWithinSpace,
	}, got)
	require.NoError(t, got.Check())
	scoped := ipam.ClassSpec{Family: ipam.IPv4, PoolPer: []string{"project"}, PoolPrefixLength: new(20)}.WithDefaults()
	require.Equal(t, 24*time.Hour, *scoped.EmptyPoolTTL)
	require.NoError(t, scoped.Check())
	said := ipam.ClassSpec{
		Provisioner: "other", Family: ipam.IPv4, ReclaimPolicy: ipam.ReclaimRetain, Visibility: ipam.VisibilityShared,
		PoolSelection: ipam.PoolsLeastUtilized, UniqueWithin: ipam.UniqueWithinClass, PoolPer: []string{"project"}, EmptyPoolTTL: new(time.Duration(0)),
	}
	require.Equal(t, said, said.WithDefaults(), "what was said stays, for Check to judge")
}

// classSpec returns a spec with a change and all defaults.
func classSpec(change func(*ipam.ClassSpec)) ipam.ClassSpec {
	s := ipam.ClassSpec{Family: ipam.IPv4}
	change(&s)
	return s.WithDefaults()
}

// fieldsOf returns the names of a struct's fields.
func fieldsOf[T any]() []string {
	var out []string
	for f := range reflect.TypeFor[T]().Fields() {
		out = append(out, f.Name)
	}
	return out
}

func numbered(n int) map[string]string {
	m := map[string]string{}
	for i := range n {
		m[fmt.Sprintf("k%d", i)] = "v"
	}
	return m
}

func TestClassSpecCheck(t *testing.T) {
	t.Parallel()
	scoped := func(bits int, roles ...string) func(*ipam.ClassSpec) {
		return func(s *ipam.ClassSpec) { s.PoolPer, s.PoolPrefixLength = roles, &bits }
	}
	lengths := func(lo, hi, standard int) func(*ipam.ClassSpec) {
		return func(s *ipam.ClassSpec) {
			for to, bits := range map[**int]int{&s.MinPrefixLength: lo, &s.MaxPrefixLength: hi, &s.DefaultPrefixLength: standard} {
				if bits >= -1 {
					*to = new(bits)
				}
			}
		}
	}
	const none = -2
	both := func(all ...func(*ipam.ClassSpec)) func(*ipam.ClassSpec) {
		return func(s *ipam.ClassSpec) {
			for _, f := range all {
				f(s)
			}
		}
	}
	six := func(s *ipam.ClassSpec) { s.Family = ipam.IPv6 }
	reuse := func(d time.Duration) func(*ipam.ClassSpec) { return func(s *ipam.ClassSpec) { s.ReuseAfter = &d } }
	ttl := func(d time.Duration) func(*ipam.ClassSpec) { return func(s *ipam.ClassSpec) { s.EmptyPoolTTL = &d } }
	for _, c := range []struct {
		name   string
		change func(*ipam.ClassSpec)
		want   string // the refused field; "": none
	}{
		{"FamilyAlone", func(*ipam.ClassSpec) {}, ""},
		{"NoFamily", func(s *ipam.ClassSpec) { s.Family = "" }, "/spec/ipFamily"},
		{"AnotherFamily", func(s *ipam.ClassSpec) { s.Family = "ipv4" }, "/spec/ipFamily"},
		{"AnotherProvisioner", func(s *ipam.ClassSpec) { s.Provisioner = "cloud" }, "/spec/provisioner"},
		{"Strategy", func(s *ipam.ClassSpec) { s.Strategy = ipam.Sparse }, ""},
		{"AnotherStrategy", func(s *ipam.ClassSpec) { s.Strategy = "WorstFit" }, "/spec/strategy"},
		{"Retain", func(s *ipam.ClassSpec) { s.ReclaimPolicy = ipam.ReclaimRetain }, ""},
		{"AnotherPolicy", func(s *ipam.ClassSpec) { s.ReclaimPolicy = "Recycle" }, "/spec/reclaimPolicy"},
		{"Shared", func(s *ipam.ClassSpec) { s.Visibility = ipam.VisibilityShared }, ""},
		{"AnotherVisibility", func(s *ipam.ClassSpec) { s.Visibility = "public" }, "/spec/visibility"},
		{"LeastUtilized", func(s *ipam.ClassSpec) { s.PoolSelection = ipam.PoolsLeastUtilized }, ""},
		{"UniqueWithinTheClass", func(s *ipam.ClassSpec) { s.UniqueWithin = ipam.UniqueWithinClass }, ""},
		{"UniqueWithinAnything", func(s *ipam.ClassSpec) { s.UniqueWithin = "Project" }, "/spec/uniqueWithin"},
		{"AnotherSelection", func(s *ipam.ClassSpec) { s.PoolSelection = "Random" }, "/spec/poolSelection"},
		{"Lengths", lengths(16, 28, 24), ""},
		{"OneLength", lengths(24, 24, 24), ""},
		{"WidestLengths", lengths(0, 32, none), ""},
		{"WidestLengthsOfIPv6", both(six, lengths(0, 128, 64)), ""},
		{"NegativeMin", lengths(-1, none, none), "/spec/allowedPrefixLengths/min"},
		{"MinOfTheOtherFamily", lengths(33, none, none), "/spec/allowedPrefixLengths/min"},
		{"MaxOfTheOtherFamily", lengths(none, 64, none), "/spec/allowedPrefixLengths/max"},
		{"MaxOfNothing", both(six, lengths(none, 129, none)), "/spec/allowedPrefixLengths/max"},
		{"MinLongerThanMax", lengths(25, 24, none), "/spec/allowedPrefixLengths/min"},
		{"DefaultOfTheOtherFamily", lengths(none, none, 64), "/spec/defaultPrefixLength"},
		{"DefaultShorterThanMin", lengths(24, none, 23), "/spec/defaultPrefixLength"},
		{"DefaultLongerThanMax", lengths(none, 24, 25), "/spec/defaultPrefixLength"},
		{"ReuseAfter", reuse(72 * time.Hour), ""},
		{"ReuseAtOnce", reuse(0), ""},
		{"ReuseAfterAYear", reuse(8760 * time.Hour), ""},
		{"ReuseAfterMoreThanAYear", reuse(8760*time.Hour + time.Second), "/spec/reuseAfter"},
		{"ReuseBefore", reuse(-time.Second), "/spec/reuseAfter"},
		{"ReuseAfterPartOfASecond", reuse(1500 * time.Millisecond), "/spec/reuseAfter"},
		{"Parameters", func(s *ipam.ClassSpec) {
			s.Parameters = map[string]string{"example.com/tier": "gold, or\nbetter", "empty": "", "long": strings.Repeat("x", 256)}
		}, ""},
		{"MostParameters", func(s *ipam.ClassSpec) { s.Parameters = numbered(32) }, ""},
		{"TooManyParameters", func(s *ipam.ClassSpec) { s.Parameters = numbered(33) }, "/spec/parameters"},
		{"OddParameter", func(s *ipam.ClassSpec) { s.Parameters = map[string]string{"a b": ""} }, "/spec/parameters"},
		{"LongParameter", func(s *ipam.ClassSpec) { s.Parameters = map[string]string{"a/b": strings.Repeat("x", 257)} }, "/spec/parameters/a~1b"},
		{"LongDescription", func(s *ipam.ClassSpec) { s.Description = strings.Repeat("x", ipam.MaxDescription+1) }, "/spec/description"},
		{"PoolPerProject", scoped(20, "project"), ""},
		{"PoolPerMore", scoped(20, "project", "cluster", "Zone_1.a"), ""},
		{"PoolPerMost", scoped(20, "project", "a", "b", "c", "d", "e", "f", "g"), ""},
		{"PoolPerTooMany", scoped(20, "project", "a", "b", "c", "d", "e", "f", "g", "h"), "/spec/poolPer"},
		{"PoolNotPerProject", scoped(20, "cluster"), "/spec/poolPer/0"},
		{"PoolPerProjectLater", scoped(20, "cluster", "project"), "/spec/poolPer/0"},
		{"PoolPerTwice", scoped(20, "project", "cluster", "cluster"), "/spec/poolPer/2"},
		{"PoolPerProjectTwice", scoped(20, "project", "project"), "/spec/poolPer/1"},
		{"PoolPerOddRole", scoped(20, "project", "example.com/cluster"), "/spec/poolPer/1"},
		{"PoolPerNoRole", scoped(20, "project", ""), "/spec/poolPer/1"},
		{"PoolPerAmbiguousRole", scoped(20, "project", "a=b,c"), "/spec/poolPer/1"},
		{"PoolPerWithoutLength", func(s *ipam.ClassSpec) { s.PoolPer = []string{"project"} }, "/spec/poolPrefixLength"},
		{"PoolLengthOfTheOtherFamily", scoped(64, "project"), "/spec/poolPrefixLength"},
		{"PoolLengthAlone", func(s *ipam.ClassSpec) { s.PoolPrefixLength = new(20) }, "/spec/poolPrefixLength"},
		{"TTLAlone", ttl(time.Hour), "/spec/emptyPoolTTL"},
		{"TTL", both(scoped(20, "project"), ttl(time.Hour)), ""},
		{"TTLOfPartOfASecond", both(scoped(20, "project"), ttl(time.Millisecond)), "/spec/emptyPoolTTL"},
		{"ScopedLengths", both(scoped(20, "project"), lengths(20, 32, 20)), ""},
		{"MinLargerThanThePool", both(scoped(20, "project"), lengths(19, none, none)), "/spec/allowedPrefixLengths/min"},
		{"MaxLargerThanThePool", both(scoped(20, "project"), lengths(none, 19, none)), "/spec/allowedPrefixLengths/max"},
		{"DefaultLargerThanThePool", both(scoped(20, "project"), lengths(none, none, 19)), "/spec/defaultPrefixLength"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := classSpec(c.change).Check()
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, c.want, pointer(t, err, ipam.CodeInvalidArgument))
		})
	}
}

// A change of any field makes two specs unequal. If the field is immutable, Fixed names it.
func TestClassSpecsAreComparedByValue(t *testing.T) {
	t.Parallel()
	full := func() ipam.ClassSpec {
		return ipam.ClassSpec{
			Provisioner: ipam.ProvisionerNative, Family: ipam.IPv4, Strategy: ipam.BestFit, MinPrefixLength: new(20), MaxPrefixLength: new(30),
			DefaultPrefixLength: new(24), ReclaimPolicy: ipam.ReclaimDelete, Visibility: ipam.VisibilityShared, IsDefault: true,
			ReuseAfter: new(time.Hour), PoolSelection: ipam.PoolsByName, Parameters: map[string]string{"a": "b"}, Description: "x",
			PoolPer: []string{"project"}, PoolPrefixLength: new(20), EmptyPoolTTL: new(time.Hour),
		}
	}
	require.True(t, full().Equal(full()), "by value, not by address")
	changes := map[string]struct {
		change func(*ipam.ClassSpec)
		fixed  string
	}{
		"Provisioner":         {func(s *ipam.ClassSpec) { s.Provisioner = "x" }, "/spec/provisioner"},
		"Family":              {func(s *ipam.ClassSpec) { s.Family = ipam.IPv6 }, "/spec/ipFamily"},
		"Strategy":            {func(s *ipam.ClassSpec) { s.Strategy = "" }, ""},
		"MinPrefixLength":     {func(s *ipam.ClassSpec) { s.MinPrefixLength = nil }, ""},
		"MaxPrefixLength":     {func(s *ipam.ClassSpec) { s.MaxPrefixLength = new(31) }, ""},
		"DefaultPrefixLength": {func(s *ipam.ClassSpec) { s.DefaultPrefixLength = nil }, ""},
		"ReclaimPolicy":       {func(s *ipam.ClassSpec) { s.ReclaimPolicy = ipam.ReclaimRetain }, ""},
		"Visibility":          {func(s *ipam.ClassSpec) { s.Visibility = ipam.VisibilityConsumer }, ""},
		"IsDefault":           {func(s *ipam.ClassSpec) { s.IsDefault = false }, ""},
		"ReuseAfter":          {func(s *ipam.ClassSpec) { s.ReuseAfter = new(time.Minute) }, ""},
		"ReuseAfterLost":      {func(s *ipam.ClassSpec) { s.ReuseAfterLost = new(time.Minute) }, ""},
		"UniqueWithin":        {func(s *ipam.ClassSpec) { s.UniqueWithin = ipam.UniqueWithinClass }, "/spec/uniqueWithin"},
		"PoolSelection":       {func(s *ipam.ClassSpec) { s.PoolSelection = ipam.PoolsLeastUtilized }, ""},
		"Parameters":          {func(s *ipam.ClassSpec) { s.Parameters = map[string]string{"a": "c"} }, ""},
		"Description":         {func(s *ipam.ClassSpec) { s.Description = "" }, ""},
		"PoolPer":             {func(s *ipam.ClassSpec) { s.PoolPer = []string{"project", "a"} }, "/spec/poolPer"},
		"PoolPrefixLength":    {func(s *ipam.ClassSpec) { s.PoolPrefixLength = new(21) }, "/spec/poolPrefixLength"},
		"EmptyPoolTTL":        {func(s *ipam.ClassSpec) { s.EmptyPoolTTL = nil }, ""},
	}
	require.ElementsMatch(t, fieldsOf[ipam.ClassSpec](), slices.Collect(maps.Keys(changes)), "every field is compared")
	for name, c := range changes {
		s := full()
		c.change(&s)
		require.False(t, full().Equal(s), name)
		require.False(t, s.Equal(full()), name)
		require.Equal(t, c.fixed, full().Fixed(s), name)
	}
}

func TestClassPrefixBounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*ipam.ClassSpec)
		want   [2]int
	}{
		"None":   {func(*ipam.ClassSpec) {}, [2]int{0, 32}},
		"IPv6":   {func(s *ipam.ClassSpec) { s.Family = ipam.IPv6 }, [2]int{0, 128}},
		"Both":   {func(s *ipam.ClassSpec) { s.MinPrefixLength, s.MaxPrefixLength = new(20), new(28) }, [2]int{20, 28}},
		"Scoped": {func(s *ipam.ClassSpec) { s.PoolPer, s.PoolPrefixLength = []string{"project"}, new(20) }, [2]int{20, 32}},
		"ScopedAndMin": {func(s *ipam.ClassSpec) {
			s.PoolPer, s.PoolPrefixLength, s.MinPrefixLength = []string{"project"}, new(20), new(24)
		}, [2]int{24, 32}},
	} {
		lo, hi := classSpec(c.change).Bounds()
		require.Equal(t, c.want, [2]int{lo, hi}, name)
	}
}

func TestClaimScopeMustHaveTheRolesOfItsClass(t *testing.T) {
	t.Parallel()
	class := ipam.Class{Spec: ipam.ClassSpec{PoolPer: []string{"project", "zone", "cluster"}}}
	for name, c := range map[string]struct {
		class   ipam.Class
		scope   map[string]string
		missing []string
		key     string
	}{
		"All":            {class, map[string]string{"cluster": "a", "zone": "1"}, nil, "cluster=a,zone=1"},
		"None":           {class, nil, []string{"zone", "cluster"}, ""},
		"One":            {class, map[string]string{"cluster": "a"}, []string{"zone"}, "cluster=a"},
		"EmptyIsMissing": {class, map[string]string{"cluster": "a", "zone": ""}, []string{"zone"}, "cluster=a,zone="},
		"More":           {class, map[string]string{"cluster": "a", "zone": "1", "rack": "7", "project": "x"}, nil, "cluster=a,zone=1"},
		"ProjectAlone":   {ipam.Class{Spec: ipam.ClassSpec{PoolPer: []string{"project"}}}, map[string]string{"zone": "1"}, nil, ""},
		"NotScoped":      {ipam.Class{}, map[string]string{"zone": "1"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ElementsMatch(t, c.missing, c.class.MissingRoles(c.scope))
			values, key := c.class.ScopeKey(c.scope)
			require.Equal(t, c.key, key)
			require.NotContains(t, values, "project")
			require.NotContains(t, values, "rack")
		})
	}
	require.Equal(t, []string{"zone", "cluster"}, class.MissingRoles(nil), "in the order of the class")
	require.Equal(t, []string{"project", "zone", "cluster"}, class.Spec.PoolPer, "asking changes nothing")
}

// Two scopes have the same key if, and only if, they have the same values for the roles of the class.
func TestScopeKeyIsUnambiguous(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		role := rapid.StringMatching(`[ab][-._ab]{0,2}[ab]`)
		roles := rapid.SliceOfNDistinct(role, 1, 4, rapid.ID).Draw(t, "roles")
		class := ipam.Class{Spec: ipam.ClassSpec{Family: ipam.IPv4, PoolPer: append([]string{"project"}, roles...), PoolPrefixLength: new(20)}}
		require.NoError(t, class.Spec.WithDefaults().Check())
		draw := func(name string) (map[string]string, string) {
			scope := map[string]string{}
			for _, r := range roles {
				if rapid.Bool().Draw(t, name+" has "+r) {
					scope[r] = rapid.StringMatching(`[ab]([-._ab]{0,2}[ab])?`).Draw(t, name+" "+r)
				}
			}
			require.NoError(t, ipam.ClaimSpec{Scope: scope}.Check())
			values, key := class.ScopeKey(scope)
			require.Equal(t, scope, values)
			return values, key
		}
		one, oneKey := draw("one")
		two, twoKey := draw("two")
		require.Equal(t, maps.Equal(one, two), oneKey == twoKey, "%v %v", one, two)
	})
}

func TestDurationsAreWrittenShort(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0s", time.Second: "1s", time.Minute: "1m", time.Hour: "1h", 72 * time.Hour: "72h", 8760 * time.Hour: "8760h",
		90 * time.Minute: "1h30m", 90 * time.Second: "1m30s", time.Hour + time.Second: "1h0m1s", 10 * time.Hour: "10h", 20 * time.Minute: "20m", 10 * time.Second: "10s",
		100*time.Hour + 10*time.Minute: "100h10m",
	} {
		require.Equal(t, want, ipam.DurationText(d))
		again, err := time.ParseDuration(ipam.DurationText(d))
		require.NoError(t, err)
		require.Equal(t, d, again)
	}
}
