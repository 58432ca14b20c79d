package codec

import (
	"cmp"
	"fmt"
	"math/big"
	"time"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/api/refuse"
	"github.com/carve-ipam/carve/internal/ipam"
)

// NewClass converts a POST body into a class.
func NewClass(_ string, b gen.IPClassCreate) (ipam.Class, error) {
	meta, wrongMeta := newMetadata(b.Metadata)
	spec, wrongSpec := ClassSpec(b.Spec)
	return ipam.Class{Metadata: meta, Spec: spec}, cmp.Or(wrongMeta, wrongSpec)
}

// ClassSpec converts a class's spec and fills in the defaults.
func ClassSpec(s gen.IPClassSpec) (ipam.ClassSpec, error) {
	spec := ipam.ClassSpec{
		Provisioner: ipam.Provisioner(s.Provisioner), Family: ipam.Family(s.IPFamily), Strategy: ipam.Strategy(s.Strategy),
		DefaultPrefixLength: s.DefaultPrefixLength, ReclaimPolicy: ipam.ReclaimPolicy(s.ReclaimPolicy),
		Visibility: ipam.Visibility(s.Visibility), IsDefault: ValueOr(s.IsDefault, false),
		PoolSelection: ipam.PoolSelection(s.PoolSelection), UniqueWithin: ipam.UniqueWithin(s.UniqueWithin), PoolPrefixLength: s.PoolPrefixLength, Description: s.Description,
	}
	if lengths := s.AllowedPrefixLengths; lengths != nil {
		spec.MinPrefixLength, spec.MaxPrefixLength = lengths.Min, lengths.Max
	}
	if len(s.Parameters) > 0 {
		spec.Parameters = s.Parameters
	}
	if len(s.PoolPer) > 0 {
		spec.PoolPer = s.PoolPer
	}
	var err error
	if spec.ReuseAfter, err = duration("/spec/reuseAfter", s.ReuseAfter); err != nil {
		return spec, err
	}
	if spec.ReuseAfterLost, err = duration("/spec/reuseAfterLost", s.ReuseAfterLost); err != nil {
		return spec, err
	}
	if spec.EmptyPoolTTL, err = duration("/spec/emptyPoolTTL", s.EmptyPoolTTL); err != nil {
		return spec, err
	}
	return spec.WithDefaults(), nil
}

// duration parses an optional duration. "" means that it is absent, which differs from 0s.
func duration(pointer, s string) (*time.Duration, error) {
	if s == "" {
		return nil, nil //nolint:nilnil // absent
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return nil, ipam.Invalid(pointer, "%s", refuse.DurationSentence)
	}
	return &d, nil
}

func durationOf(d *time.Duration) string {
	if d == nil {
		return ""
	}
	return ipam.DurationText(*d)
}

// ClassOf converts a class into its wire form.
func ClassOf(c ipam.Class) gen.IPClass {
	return gen.IPClass{Metadata: metadataOf(c.Metadata), Spec: ClassSpecOf(c.Spec), Status: ClassStatusOf(c)}
}

// ClassSpecOf converts a class's spec into its wire form.
func ClassSpecOf(s ipam.ClassSpec) gen.IPClassSpec {
	spec := gen.IPClassSpec{
		Provisioner: gen.Provisioner(s.Provisioner), IPFamily: gen.IPFamily(s.Family), Visibility: gen.ClassVisibility(s.Visibility),
		IsDefault: &s.IsDefault, Strategy: gen.AllocationStrategy(s.Strategy), DefaultPrefixLength: s.DefaultPrefixLength,
		ReclaimPolicy: gen.ReclaimPolicy(s.ReclaimPolicy), ReuseAfter: durationOf(s.ReuseAfter), ReuseAfterLost: durationOf(s.ReuseAfterLost),
		PoolSelection: gen.PoolSelection(s.PoolSelection), UniqueWithin: gen.UniqueWithin(s.UniqueWithin), PoolPer: s.PoolPer, PoolPrefixLength: s.PoolPrefixLength,
		EmptyPoolTTL: durationOf(s.EmptyPoolTTL), Parameters: s.Parameters, Description: s.Description,
	}
	if s.MinPrefixLength != nil || s.MaxPrefixLength != nil {
		spec.AllowedPrefixLengths = &gen.ClassPrefixLengths{Min: s.MinPrefixLength, Max: s.MaxPrefixLength}
	}
	return spec
}

// ClassStatusOf converts a class's status into its wire form.
func ClassStatusOf(c ipam.Class) gen.IPClassStatus {
	total, available := count(c.Status.Total), count(c.Status.Available)
	return gen.IPClassStatus{
		BackingPools: c.Status.BackingPools, ScopedPools: c.Status.ScopedPools,
		Capacity:            gen.ClassCapacity{Total: total.String(), Available: available.String()},
		UtilizationPercent:  utilization(total, available),
		LargestPrefixLength: c.Status.LargestFree,
		Conditions:          []gen.Condition{classReady(c)},
	}
}

// count parses a decimal count that the server itself has written. "" is 0.
func count(s string) *big.Int {
	if n, ok := new(big.Int).SetString(s, 10); ok {
		return n
	}
	return new(big.Int)
}

// classReady returns the condition Ready, which is true if a pool lists the class. The server does not record when the condition changed, so its time
// is the creation of the class.
func classReady(c ipam.Class) gen.Condition {
	ready := gen.Condition{Type: "Ready", LastTransitionTime: c.CreatedAt}
	ready.Status, ready.Reason = gen.ConditionStatusTrue, "Backed"
	switch n := c.Status.BackingPools; n {
	case 0:
		ready.Status, ready.Reason = gen.ConditionStatusFalse, "NoBackingPools"
		ready.Message = "No pool lists the class; add its name to classNames of a pool."
	case 1:
		ready.Message = "1 pool backs the class."
	default:
		ready.Message = fmt.Sprintf("%d pools back the class.", n)
	}
	return ready
}
