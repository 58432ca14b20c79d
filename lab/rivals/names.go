package rivals

import "strconv"

// names counts the names that each client has used.
type names []struct {
	n int
	_ [56]byte // fills a cache line, so that clients on different cores do not share one
}

func newNames(clients int) names { return make(names, clients) }

func (s names) name(client int) string {
	s[client].n++
	return "c" + strconv.Itoa(client) + "-" + strconv.Itoa(s[client].n)
}
