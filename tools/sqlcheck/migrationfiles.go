package sqlcheck

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

var (
	migrationFile = regexp.MustCompile(`^(\d{4})_[a-z0-9]+(_[a-z0-9]+)*\.sql$`)
	up            = regexp.MustCompile(`(?m)^-- \+goose Up *$`)
	down          = regexp.MustCompile(`(?m)^-- \+goose Down *$`)
	noTransaction = regexp.MustCompile(`(?m)^-- \+goose NO TRANSACTION *$`)
)

// checkMigrations checks the rules of every migration in a folder and returns the schema that they make together.
func checkMigrations(files fs.FS) (findings []Finding, made schema, checked int, err error) {
	made = schema{}
	numbers := map[string]string{}
	err = eachSQL(files, func(file, text string) {
		checked++
		add := func(rule, detail string) { findings = append(findings, Finding{file, rule, detail}) }
		match := migrationFile.FindStringSubmatch(file)
		if match == nil {
			add("file-name", "a migration is named like 0001_create_pools.sql")
		} else if other, taken := numbers[match[1]]; taken {
			add("file-name", "the number is also that of "+other)
		} else {
			numbers[match[1]] = file
		}
		if !up.MatchString(text) {
			add("goose", "no '-- +goose Up'")
		}
		if !noTransaction.MatchString(text) {
			add("goose", "no '-- +goose NO TRANSACTION': on CockroachDB DDL inside a transaction commits what came before it")
		}

		forward, back := text, ""
		if at := down.FindStringIndex(text); at != nil {
			forward, back = text[:at[0]], text[at[0]:]
		}
		for i, part := range []string{forward, back} {
			statements, err := parse(part)
			if err != nil {
				add("grammar", "CockroachDB does not read it: "+err.Error())
				continue
			}
			for _, one := range statements {
				for _, finding := range check(file, subject{one, made, true}, everyStatement, inMigrations) {
					finding.Detail = fmt.Sprintf("%s: %s", opening(one.text), finding.Detail)
					findings = append(findings, finding)
				}
				if i == 0 {
					made.apply([]statement{one})
				}
			}
		}
	})
	return findings, made, checked, err
}

// opening returns the first words of a statement, to find it in a file with several.
func opening(text string) string {
	words := strings.Fields(text)
	return strings.Join(words[:min(len(words), 6)], " ")
}
