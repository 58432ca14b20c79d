package serverproc

import (
	"bytes"
	"os"
	"strings"
	"sync"
)

// output stores the output of a process. Goroutines can wait until it contains a certain text. A nil output is empty.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // closed and replaced when more text arrives
}

func newOutput() *output { return &output{more: make(chan struct{})} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.more)
	o.more = make(chan struct{})
	return o.text.Write(p)
}

// now returns the current text, and a channel that closes when more text arrives.
func (o *output) now() (text string, more <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String(), o.more
}

func (o *output) String() string {
	if o == nil {
		return ""
	}
	text, _ := o.now()
	return text
}

// tailSize and tailLines limit the part of a log that an error shows.
const (
	tailSize  = 8 << 10
	tailLines = 12
)

// written returns the end of a log file. It returns "" if the file cannot be read again, such as a terminal.
func written(log *os.File) string {
	about, err := log.Stat()
	if err != nil || !about.Mode().IsRegular() {
		return ""
	}
	text := make([]byte, min(about.Size(), tailSize))
	n, _ := log.ReadAt(text, about.Size()-int64(len(text))) // a write-only file returns nothing
	return string(text[:n])
}

// end returns the last lines of a log.
func end(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}
