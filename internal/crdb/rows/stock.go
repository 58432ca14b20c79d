package rows

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/carve-ipam/carve/internal/ipam"
)

// stockFormat is an encoded stock's first byte. A stock counts free and cooling blocks by prefix length. After the first byte comes the number of
// lengths that have free blocks. Then come two numbers for each such length: the length and the block count. Then come the same pairs for cooling
// blocks, up to the end. All numbers are unsigned varints. The lengths ascend, so equal stocks have equal encodings.
const stockFormat = 1

// EncodeStock encodes a stock for a version row.
func EncodeStock(s ipam.Stock) []byte {
	b := make([]byte, 0, 2+3*(len(s.Free)+len(s.Cooling)))
	b = append(b, stockFormat)
	b = binary.AppendUvarint(b, uint64(len(s.Free)))
	b = appendCounts(b, s.Free)
	return appendCounts(b, s.Cooling)
}

func appendCounts(b []byte, counts map[int]int64) []byte {
	lengths := slices.AppendSeq(make([]int, 0, 129), maps.Keys(counts)) // allocated on the stack, because its capacity is constant
	slices.Sort(lengths)
	for _, bits := range lengths {
		b = binary.AppendUvarint(b, uint64(bits))         //nolint:gosec // 0 to 128
		b = binary.AppendUvarint(b, uint64(counts[bits])) //nolint:gosec // a row count
	}
	return b
}

// DecodeStock decodes a stock that EncodeStock encoded.
func DecodeStock(b []byte) (ipam.Stock, error) {
	var s ipam.Stock
	if len(b) == 0 || b[0] != stockFormat {
		return s, fmt.Errorf("a stored stock %x has a format that this version does not know", b)
	}
	numbers := make([]uint64, 0, len(b))
	for rest := b[1:]; len(rest) > 0; {
		n, size := binary.Uvarint(rest)
		if size <= 0 {
			return s, fmt.Errorf("a stored stock %x ends within a number", b)
		}
		numbers, rest = append(numbers, n), rest[size:]
	}
	if len(numbers)%2 != 1 || numbers[0] > uint64(len(numbers)/2) {
		return s, fmt.Errorf("a stored stock %x has fewer numbers than it announces", b)
	}
	free := numbers[0]
	s.Free = make(map[int]int64, free)
	for i := uint64(0); i < uint64(len(numbers)/2); i++ {
		bits, n := int(numbers[1+2*i]), int64(numbers[2+2*i]) //nolint:gosec // the encoder wrote values in range
		if i < free {
			s.Free[bits] = n
			continue
		}
		if s.Cooling == nil {
			s.Cooling = map[int]int64{}
		}
		s.Cooling[bits] = n
	}
	return s, nil
}
