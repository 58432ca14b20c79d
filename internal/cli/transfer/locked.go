package transfer

import (
	"io"
	"sync"
)

// locked is a writer for concurrent requests.
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
