package sqlcheck

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/crdb/query"
)

// head lists the keys of the comments at the beginning of every statement, in their order. The comments describe the statement's purpose, its index,
// its number of rows, and its locks.
var head = []string{"purpose", "index", "rows", "locks"}

var (
	queryFile = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*\.sql$`)
	remark    = regexp.MustCompile(`^-- ([a-z]+): *(.*)$`)
)

// statementName returns the Go name of a statement. The statement of claim_insert.sql is ClaimInsert.
func statementName(file string) string {
	var name strings.Builder
	for word := range strings.SplitSeq(strings.TrimSuffix(path.Base(file), ".sql"), "_") {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}

// checkQueries checks the form and the rules of every .sql file in a tree.
func checkQueries(files fs.FS, known schema) (findings []Finding, checked int, err error) {
	names := map[string]string{}
	err = eachStatement(files, func(file, text string) {
		checked++
		add := func(rule, detail string) { findings = append(findings, Finding{file, rule, detail}) }
		if !queryFile.MatchString(path.Base(file)) {
			add("file-name", "a statement's file is named in lower case with underscores")
			return
		}
		name := statementName(file)
		if other, taken := names[name]; taken {
			add("file-name", fmt.Sprintf("%s is also %s", name, other))
		}
		names[name] = file

		remarks, order := readHead(text)
		checkHead(remarks, order, add)
		everyRegion := strings.HasPrefix(remarks["region"], "every, because ")
		if value, said := remarks["region"]; said && !everyRegion {
			add("head", fmt.Sprintf("region: %q; the only thing to say there is 'every, because …'", value))
		}

		statements, err := parse(text)
		switch {
		case err != nil:
			add("grammar", "CockroachDB does not read it: "+err.Error())
			return
		case len(statements) != 1:
			add("one-statement", fmt.Sprintf("%d statements in a file", len(statements)))
		}
		for _, one := range statements {
			findings = append(findings, check(file, subject{one, known, everyRegion}, everyStatement, inQueries)...)
		}
	})
	return findings, checked, err
}

// readHead reads the comment lines before the statement. A line without a key continues the one above.
func readHead(text string) (remarks map[string]string, order []string) {
	remarks = map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasPrefix(line, "--") {
			break
		}
		if match := remark.FindStringSubmatch(line); match != nil {
			order = append(order, match[1])
			remarks[match[1]] = strings.TrimSpace(match[2])
		} else if len(order) > 0 {
			last := order[len(order)-1]
			remarks[last] = strings.TrimSpace(remarks[last] + " " + strings.TrimSpace(strings.TrimPrefix(line, "--")))
		}
	}
	return remarks, order
}

func checkHead(remarks map[string]string, order []string, add func(rule, detail string)) {
	for i, key := range head {
		switch {
		case remarks[key] == "":
			add("head", fmt.Sprintf("no '-- %s: …' above the statement", key))
		case len(order) > i && order[i] != key:
			add("head", fmt.Sprintf("'-- %s: …' is not line %d of %s", key, i+1, strings.Join(head, ", ")))
		}
	}
}

// check applies lists of rules to one statement.
func check(file string, s subject, lists ...[]rule) (findings []Finding) {
	for _, list := range lists {
		for _, r := range list {
			r.check(s, func(detail string) {
				findings = append(findings, Finding{file, r.name, detail + ". " + r.why})
			})
		}
	}
	return findings
}

// eachStatement visits all statements of a tree, after it has expanded their includes. One file can contain several statements.
func eachStatement(files fs.FS, visit func(file, text string)) error {
	var unclear error
	err := eachSQL(files, func(file, text string) {
		name := strings.TrimSuffix(file, ".sql")
		expanded, err := query.Expand(name, text)
		unclear = errors.Join(unclear, err)
		for _, name := range slices.Sorted(maps.Keys(expanded)) {
			visit(name+".sql", expanded[name])
		}
	})
	return errors.Join(err, unclear)
}

func eachSQL(files fs.FS, visit func(file, text string)) error {
	return fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(file) != ".sql" {
			return err
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return err
		}
		visit(file, string(text))
		return nil
	})
}
