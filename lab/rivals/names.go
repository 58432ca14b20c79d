package rivals

import "strconv"

// names counts each client's names.
type names []struct {
	n int
	_ [56]byte // a cache line each: clients on different cores do not share one
}

func newNames(clients int) names { return make(names, clients) }

func (s names) name(client int) string {
	s[client].n++
	return "c" + strconv.Itoa(client) + "-" + strconv.Itoa(s[client].n)
}
