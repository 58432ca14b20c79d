package transfer

import (
	"io"
	"sync"
)

// locked is a writer for requests that are under way at once.
type locked struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer.
func (l *locked) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(text)
}
