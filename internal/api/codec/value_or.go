package codec

// ValueOr returns the value of an optional parameter, or absent if the parameter is nil.
func ValueOr[T any](p *T, absent T) T {
	if p == nil {
		return absent
	}
	return *p
}
