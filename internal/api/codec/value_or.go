package codec

// ValueOr returns an optional parameter's value, or absent if the parameter is nil.
func ValueOr[T any](p *T, absent T) T {
	if p == nil {
		return absent
	}
	return *p
}
