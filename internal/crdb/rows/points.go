package rows

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// AppendPoint appends a utilization record to a pool's encoded records. The encoding has two parts. The first contains the whole seconds since the
// time begins, as an unsigned varint. The second contains the count of used addresses, as three values: the number of trailing zero bytes, the number
// of bytes before them, and these bytes.
func AppendPoint(b []byte, begins time.Time, p ipam.UsedAt) []byte {
	used := p.Used.Bytes()
	digits := bytes.TrimRight(used, "\x00")
	b = binary.AppendUvarint(b, uint64(p.At.Sub(begins)/time.Second)) //nolint:gosec // not negative: a row's points follow its start
	b = append(b, byte(len(used)-len(digits)), byte(len(digits)))     //nolint:gosec // 17 bytes at most
	return append(b, digits...)
}

// DecodePoints decodes records that AppendPoint encoded, and appends them to points.
func DecodePoints(points []ipam.UsedAt, begins time.Time, b []byte) ([]ipam.UsedAt, error) {
	for rest := b; len(rest) > 0; {
		seconds, n := binary.Uvarint(rest)
		if n <= 0 || len(rest) < n+2 || len(rest) < n+2+int(rest[n+1]) {
			return nil, fmt.Errorf("the records %x of a pool end within one", b)
		}
		zeros, end := uint(rest[n]), n+2+int(rest[n+1])
		used := new(big.Int).SetBytes(rest[n+2 : end])
		at := begins.Add(time.Duration(seconds) * time.Second).UTC() //nolint:gosec // the encoder wrote a value in range
		points, rest = append(points, ipam.UsedAt{At: at, Used: used.Lsh(used, 8*zeros)}), rest[end:]
	}
	return points, nil
}

// Day contains a pool's records for one day.
type Day struct {
	PoolID  ipam.ID
	Begins  time.Time
	Records []ipam.UsedAt
}

// MonthRows contains rows for months, column by column. There is one row for each pool and month.
type MonthRows struct {
	Pools         []ipam.ID
	Begin, Latest []time.Time
	Points        [][]byte
}

// MonthOf returns the start of a time's month, in UTC.
func MonthOf(at time.Time) time.Time {
	year, number, _ := at.UTC().Date()
	return time.Date(year, number, 1, 0, 0, 0, 0, time.UTC)
}

// Months combines daily records into months. selectKept selects the records of a day that the month keeps.
func Months(days []Day, selectKept func([]ipam.UsedAt) []ipam.UsedAt) (m MonthRows) {
	type month struct {
		pool   ipam.ID
		begins time.Time
	}
	slices.SortFunc(days, func(a, b Day) int { return a.Begins.Compare(b.Begins) })
	at := map[month]int{}
	for _, d := range days {
		of := month{d.PoolID, MonthOf(d.Begins)}
		i, there := at[of]
		if !there {
			i, at[of] = len(m.Pools), len(m.Pools)
			m.Pools, m.Begin = append(m.Pools, d.PoolID), append(m.Begin, of.begins)
			m.Latest, m.Points = append(m.Latest, time.Time{}), append(m.Points, nil)
		}
		for _, r := range selectKept(d.Records) {
			m.Latest[i], m.Points[i] = r.At, AppendPoint(m.Points[i], of.begins, r)
		}
	}
	return m
}
