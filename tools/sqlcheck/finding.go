package sqlcheck

import "fmt"

// Finding is one fault: the file, the rule, and the text to write instead.
type Finding struct {
	File   string
	Rule   string
	Detail string
}

func (f Finding) String() string { return fmt.Sprintf("%s: [%s] %s", f.File, f.Rule, f.Detail) }
