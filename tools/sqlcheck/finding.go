package sqlcheck

import "fmt"

// Finding is one thing that is wrong: in which file, against which rule, and what to write instead.
type Finding struct {
	File   string
	Rule   string
	Detail string
}

func (f Finding) String() string { return fmt.Sprintf("%s: [%s] %s", f.File, f.Rule, f.Detail) }
