package plan

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// planFile is a file on the command line. It contains a plan, or a part of one.
type planFile struct {
	path  string
	lines map[string]int
	first map[string]int // maps a list's name to the index that the file's first item has in the whole plan
}

// planFiles has the files in the command line's order.
type planFiles []planFile

// inList matches a position in a list, such as pools[2].cidr.
var inList = regexp.MustCompile(`^(\w+)\[(\d+)\](.*)$`)

// where returns the file and the line that contain a position in the whole plan. If the line is unknown, it is 0.
func (files planFiles) where(at string) (path string, line int) {
	if m := inList.FindStringSubmatch(at); m != nil {
		n, _ := strconv.Atoi(m[2]) // the pattern matches only digits here
		for _, f := range slices.Backward(files) {
			if first := f.first[m[1]]; n >= first {
				return f.path, lineOf(f.lines, m[1]+"["+strconv.Itoa(n-first)+"]"+m[3])
			}
		}
	}
	for _, f := range files {
		if line := lineOf(f.lines, at); line > 0 {
			return f.path, line
		}
	}
	return files[0].path, 0
}

// join adds another file's objects. Both files may name the plan and describe the project, but they must agree. For each list, join returns the index
// of the first object that it adds.
func (p *plan) join(more plan, path string) (first map[string]int, err error) {
	first = map[string]int{"spaces": len(p.Spaces), "classes": len(p.Classes), "pools": len(p.Pools), "claims": len(p.Claims)}
	switch {
	case p.Name == "":
		p.Name = more.Name
	case more.Name != "" && more.Name != p.Name:
		return nil, exit.Usagef("%s belongs to plan %s, and an earlier file to plan %s: apply the files separately", path, more.Name, p.Name)
	}
	switch none := (planProject{}); {
	case reflect.DeepEqual(p.Project, none):
		p.Project = more.Project
	case !reflect.DeepEqual(more.Project, none) && !reflect.DeepEqual(more.Project, p.Project):
		return nil, exit.Usagef("%s and an earlier file describe the project differently: keep `project` in only one of them", path)
	}
	p.Spaces, p.Classes = append(p.Spaces, more.Spaces...), append(p.Classes, more.Classes...)
	p.Pools, p.Claims = append(p.Pools, more.Pools...), append(p.Claims, more.Claims...)
	return first, nil
}

// readPlans reads files that form one plan. It makes all checks that need no server, so that a faulty plan is not started. It also returns the plan
// as JSON.
func readPlans(paths []string, texts [][]byte) (p plan, doc json.RawMessage, err error) {
	var files planFiles
	for n, path := range paths {
		one, text, err := readPlan(path, texts[n])
		if err != nil {
			return p, nil, err
		}
		f := planFile{path: path, lines: linesOf(texts[n])}
		if f.first, err = p.join(one, path); err != nil {
			return p, nil, err
		}
		files, doc = append(files, f), text
	}
	if faults := p.check(); len(faults) > 0 {
		return p, nil, faults.in(files)
	}
	if len(paths) > 1 {
		doc, err = show.Marshal(p)
	}
	return p, doc, err
}

func (files planFiles) paths() (out []string) {
	for _, f := range files {
		out = append(out, f.path)
	}
	return out
}

func nameOf(paths []string) string { return strings.Join(paths, ", ") }
