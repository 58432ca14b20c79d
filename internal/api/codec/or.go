package codec

// Or returns the value of an optional parameter, or absent without one.
func Or[T any](p *T, absent T) T {
	if p == nil {
		return absent
	}
	return *p
}
