package main

import (
	"fmt"
	"strings"
	"time"
)

// fault is something that is not as a page says.
type fault struct {
	path   string
	line   int
	what   string
	detail string
}

func (f fault) String() string {
	s := fmt.Sprintf("%s:%d: %s", f.path, f.line, f.what)
	if f.detail != "" {
		s += "\n    " + strings.ReplaceAll(strings.TrimRight(f.detail, "\n"), "\n", "\n    ")
	}
	return s
}

// unrun is a block that is not run, with the page's reason.
type unrun struct {
	path   string
	line   int
	reason string
}

// result is what came of the commands of a page.
type result struct {
	page    *page
	ran     int
	unrun   []unrun
	faults  []fault
	changes []change // what an update would write
	took    time.Duration
}
