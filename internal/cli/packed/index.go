package packed

// Index numbers different values. If many objects have a value, their packed strings contain only its number.
type Index[T comparable] struct {
	list    []T
	numbers map[T]uint64
}

// Number returns a value's number. It adds a new value.
func (x *Index[T]) Number(value T) uint64 {
	n, found := x.numbers[value]
	if !found {
		if x.numbers == nil {
			x.numbers = map[T]uint64{}
		}
		n = uint64(len(x.list))
		x.list, x.numbers[value] = append(x.list, value), n
	}
	return n
}

// Value returns the value with a number.
func (x *Index[T]) Value(number uint64) T { return x.list[number] }
