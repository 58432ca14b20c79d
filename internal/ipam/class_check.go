package ipam

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Limits for classes.
const (
	MaxParameters     = 32
	MaxParameterValue = 256
)

// defaultEmptyPoolTTL is the default time for which an empty scoped pool stays.
const defaultEmptyPoolTTL = 24 * time.Hour

// WithDefaults returns the spec with defaults for unset fields.
func (s ClassSpec) WithDefaults() ClassSpec {
	if s.Provisioner == "" {
		s.Provisioner = ProvisionerNative
	}
	if s.ReclaimPolicy == "" {
		s.ReclaimPolicy = ReclaimDelete
	}
	if s.Visibility == "" {
		s.Visibility = VisibilityConsumer
	}
	if s.PoolSelection == "" {
		s.PoolSelection = PoolsByName
	}
	if s.UniqueWithin == "" {
		s.UniqueWithin = UniqueWithinSpace
	}
	if len(s.PoolPer) > 0 && s.EmptyPoolTTL == nil {
		s.EmptyPoolTTL = new(defaultEmptyPoolTTL)
	}
	return s
}

// Check validates a spec that WithDefaults has completed.
func (s ClassSpec) Check() error {
	if s.Family != IPv4 && s.Family != IPv6 {
		return Invalid("/spec/ipFamily", "must be IPv4 or IPv6.")
	}
	for _, check := range []func() error{s.checkWords, s.checkLengths, s.checkParameters, s.checkScoping} {
		if err := check(); err != nil {
			return err
		}
	}
	return cmp.Or(
		CheckDuration("/spec/reuseAfter", s.ReuseAfter), CheckDuration("/spec/reuseAfterLost", s.ReuseAfterLost),
		CheckText("/spec/description", s.Description, MaxDescription, true),
	)
}

func (s ClassSpec) checkWords() error {
	if s.Provisioner != ProvisionerNative {
		return Invalid("/spec/provisioner", "must be %s.", ProvisionerNative)
	}
	switch s.Strategy {
	case "", FirstFit, BestFit, Random, Sparse:
	default:
		return Invalid("/spec/strategy", "must be FirstFit, BestFit, Random or Sparse; leave it out to use the strategy of the pool.")
	}
	return cmp.Or(
		checkWord("/spec/reclaimPolicy", s.ReclaimPolicy, ReclaimDelete, ReclaimRetain),
		checkVisibility(s.Visibility),
		checkWord("/spec/poolSelection", s.PoolSelection, PoolsByName, PoolsLeastUtilized),
		checkWord("/spec/uniqueWithin", s.UniqueWithin, UniqueWithinSpace, UniqueWithinClass),
	)
}

// namedLength is an optional prefix length with its pointer in the spec.
type namedLength struct {
	name  string
	value *int
}

func (s ClassSpec) lengths() []namedLength {
	return []namedLength{
		{"allowedPrefixLengths/min", s.MinPrefixLength}, {"allowedPrefixLengths/max", s.MaxPrefixLength},
		{"defaultPrefixLength", s.DefaultPrefixLength}, {"poolPrefixLength", s.PoolPrefixLength},
	}
}

func (s ClassSpec) checkLengths() error {
	width := s.Family.Bits()
	for _, f := range s.lengths() {
		if f.value != nil && (*f.value < 0 || *f.value > width) {
			return Invalid("/spec/"+f.name, "must be 0 to %d for %s.", width, s.Family)
		}
	}
	if lo, hi := s.MinPrefixLength, s.MaxPrefixLength; lo != nil && hi != nil && *lo > *hi {
		return Invalid("/spec/allowedPrefixLengths/min", "is %d, longer than max %d.", *lo, *hi)
	}
	if d := s.DefaultPrefixLength; d != nil {
		if lo := s.MinPrefixLength; lo != nil && *d < *lo {
			return Invalid("/spec/defaultPrefixLength", "is %d, shorter than allowedPrefixLengths.min %d.", *d, *lo)
		}
		if hi := s.MaxPrefixLength; hi != nil && *d > *hi {
			return Invalid("/spec/defaultPrefixLength", "is %d, longer than allowedPrefixLengths.max %d.", *d, *hi)
		}
	}
	return nil
}

func (s ClassSpec) checkParameters() error {
	if err := checkCount("/spec/parameters", len(s.Parameters), MaxParameters); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(s.Parameters)) {
		if !ValidLabelKey(key) {
			return Invalid("/spec/parameters", "has a key that is not [prefix/]name with a name of 1 to 63 characters from [A-Za-z0-9._-].")
		}
		if err := CheckText("/spec/parameters/"+EscapePointer(key), s.Parameters[key], MaxParameterValue, true); err != nil {
			return err
		}
	}
	return nil
}

// checkScoping validates a scoped class's fields.
func (s ClassSpec) checkScoping() error {
	if len(s.PoolPer) == 0 {
		switch {
		case s.PoolPrefixLength != nil:
			return Invalid("/spec/poolPrefixLength", "is allowed only with poolPer.")
		case s.EmptyPoolTTL != nil:
			return Invalid("/spec/emptyPoolTTL", "is allowed only with poolPer.")
		}
		return nil
	}
	if err := s.checkRoles(); err != nil {
		return err
	}
	if s.PoolPrefixLength == nil {
		return Invalid("/spec/poolPrefixLength", "is required with poolPer: it sets the size of the pool of each scope.")
	}
	for _, f := range s.lengths() {
		if f.value != nil && *f.value < *s.PoolPrefixLength {
			return Invalid("/spec/"+f.name, "is %d, shorter than poolPrefixLength %d: such a block does not fit into the pool of a scope.", *f.value, *s.PoolPrefixLength)
		}
	}
	return CheckDuration("/spec/emptyPoolTTL", s.EmptyPoolTTL)
}

func (s ClassSpec) checkRoles() error {
	if err := checkCount("/spec/poolPer", len(s.PoolPer), MaxRoles); err != nil {
		return err
	}
	for i, role := range s.PoolPer {
		at := "/spec/poolPer/" + strconv.Itoa(i)
		switch {
		case i == 0 && role != ScopeProject:
			return Invalid(at, "must be %q, because each project gets its own pools.", ScopeProject)
		case !ValidRole(role):
			return Invalid(at, "must be 1 to 63 characters from [A-Za-z0-9._-], beginning and ending with a letter or digit.")
		case slices.Contains(s.PoolPer[:i], role):
			return Invalid(at, "repeats an earlier entry; list it once.")
		}
	}
	return nil
}

// Fixed returns the pointer to the first immutable field in which the two specs differ. It returns "" if no immutable field differs.
func (s ClassSpec) Fixed(now ClassSpec) string {
	switch {
	case s.Provisioner != now.Provisioner:
		return "/spec/provisioner"
	case s.Family != now.Family:
		return "/spec/ipFamily"
	case s.UniqueWithin != now.UniqueWithin:
		return "/spec/uniqueWithin"
	case !slices.Equal(s.PoolPer, now.PoolPer):
		return "/spec/poolPer"
	case !same(s.PoolPrefixLength, now.PoolPrefixLength):
		return "/spec/poolPrefixLength"
	}
	return ""
}

// Equal reports whether two specs have the same values.
func (s ClassSpec) Equal(now ClassSpec) bool {
	return s.Fixed(now) == "" && s.Strategy == now.Strategy && same(s.MinPrefixLength, now.MinPrefixLength) &&
		same(s.MaxPrefixLength, now.MaxPrefixLength) && same(s.DefaultPrefixLength, now.DefaultPrefixLength) &&
		s.ReclaimPolicy == now.ReclaimPolicy && s.Visibility == now.Visibility && s.IsDefault == now.IsDefault &&
		same(s.ReuseAfter, now.ReuseAfter) && same(s.ReuseAfterLost, now.ReuseAfterLost) && s.PoolSelection == now.PoolSelection && maps.Equal(s.Parameters, now.Parameters) &&
		s.Description == now.Description && same(s.EmptyPoolTTL, now.EmptyPoolTTL)
}

// same reports whether two optional values are equal.
func same[T comparable](a, b *T) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }
