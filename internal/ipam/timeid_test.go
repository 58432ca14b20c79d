package ipam_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/ipam"
)

// until is the last millisecond that fits into 48 bits. It is in about the year 10889.
const until = 1<<48 - 1

func anyMillisecond(t *rapid.T, name string) time.Time {
	return time.UnixMilli(rapid.Int64Range(0, until).Draw(t, name)).Add(time.Duration(rapid.Int64Range(0, 999_999).Draw(t, name+" ns")))
}

func TestTimeIDIsAUUIDOfItsTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := anyMillisecond(t, "at")
		u := uuid.UUID(ipam.NewTimeID(at))
		require.Equal(t, uuid.Version(7), u.Version())
		require.Equal(t, uuid.RFC4122, u.Variant())
		ms := int64(0)
		for _, b := range u[:6] {
			ms = ms<<8 | int64(b)
		}
		require.Equal(t, at.UnixMilli(), ms)
	})
}

func TestTimeIDsAreUnique(t *testing.T) {
	t.Parallel()
	at, seen := time.Now(), map[ipam.ID]bool{}
	for range 10_000 {
		id := ipam.NewTimeID(at)
		require.False(t, seen[id])
		seen[id] = true
	}
}

func TestTimeIDsAreInOrderOfTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyMillisecond(t, "a"), anyMillisecond(t, "b")
		if rapid.Bool().Draw(t, "same millisecond") {
			b = a.Truncate(time.Millisecond).Add(time.Duration(b.Nanosecond() % 1_000_000))
		}
		x, y := ipam.NewTimeID(a), ipam.NewTimeID(b)
		require.Equal(t, a.UTC().Truncate(time.Microsecond), x.Time())
		require.Equal(t, a.UnixMicro() < b.UnixMicro(), x.Time().Before(y.Time()))
		if a.UnixMicro() != b.UnixMicro() { // random bits decide about the order in one microsecond
			require.Equal(t, a.Before(b), bytes.Compare(x[:], y[:]) < 0)
		}
	})
}

func TestFirstTimeIDSeparatesEarlierFromLaterIDs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at, other := anyMillisecond(t, "at"), anyMillisecond(t, "other")
		first, id := ipam.FirstTimeID(at), ipam.NewTimeID(other)
		require.Equal(t, other.UnixMilli() >= at.UnixMilli(), bytes.Compare(id[:], first[:]) >= 0)
	})
	at := time.UnixMilli(1_700_000_000_000)
	same := ipam.NewTimeID(at)
	first, next := ipam.FirstTimeID(at), ipam.FirstTimeID(at.Add(time.Millisecond))
	require.Negative(t, bytes.Compare(first[:], same[:]))
	require.Negative(t, bytes.Compare(same[:], next[:]))
}

// A caller may list events since any valid time, even a time before 1970.
func TestFirstTimeIDBeforeTheEpochIsTheLowest(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{{}, time.Unix(-1, 0), time.Unix(0, 0), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)} {
		require.True(t, ipam.FirstTimeID(at).IsZero(), at)
	}
	last := ipam.FirstTimeID(time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC))
	now := ipam.NewTimeID(time.Now())
	require.Positive(t, bytes.Compare(last[:], now[:]))
}
