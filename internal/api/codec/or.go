package codec

// Or is the value of an optional parameter, or what stands for its absence.
func Or[T any](p *T, absent T) T {
	if p == nil {
		return absent
	}
	return *p
}
