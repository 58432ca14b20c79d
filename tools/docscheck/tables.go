package main

import (
	"path"
	"regexp"
	"strings"
)

// Pages that must list all pages of a folder.
const (
	problemTable = "docs/problems.md"
	runbookTable = "docs/runbooks/README.md"
)

var problemStatus = regexp.MustCompile("(?m)^`([a-z_]+)`, status (\\d+)$")

// checkTables compares the table of problems with the pages of the problems. It also finds runbooks that the table of runbooks does not list.
func checkTables(all map[string]*page) []fault {
	var faults []fault
	linked := map[string]bool{}
	if p := all[runbookTable]; p != nil {
		for _, l := range p.links {
			file, _, _ := strings.Cut(l.to, "#")
			linked[path.Join("docs/runbooks", file)] = true
		}
	}
	for _, p := range sorted(all) {
		switch {
		case path.Dir(p.path) == "docs/runbooks" && p.path != runbookTable && !linked[p.path]:
			faults = append(faults, fault{path: runbookTable, line: 1, what: "has no link to " + path.Base(p.path)})
		case path.Dir(p.path) == "docs/problems":
			if row := problemRow(p); row == "" {
				faults = append(faults, fault{path: p.path, line: 1, what: "says no code and status, as in `in_use`, status 409"})
			} else if table := all[problemTable]; table == nil || !strings.Contains(string(table.source), "\n"+row+"\n") {
				faults = append(faults, fault{path: problemTable, line: 1, what: "lacks the line " + row})
			}
		}
	}
	return faults
}

// problemRow returns the line that the table of problems must have for a problem's page. It returns "" if the page has no code and status.
func problemRow(p *page) string {
	title, _, _ := strings.Cut(strings.TrimPrefix(string(p.source), "# "), "\n")
	m := problemStatus.FindSubmatch(p.source)
	if m == nil {
		return ""
	}
	return "| " + string(m[2]) + " | [`" + string(m[1]) + "`](problems/" + path.Base(p.path) + ") | " + title + " |"
}
