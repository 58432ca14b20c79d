package main

import (
	"fmt"
	"strings"
	"time"
)

// fault is one fault in a page, such as a dead link or a wrong output.
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

// unrun is a block that does not run, with the page's reason.
type unrun struct {
	path   string
	line   int
	reason string
}

// result has the outcome of a page's commands.
type result struct {
	page    *page
	ran     int
	unrun   []unrun
	faults  []fault
	changes []change // for an update of the page
	took    time.Duration
}
