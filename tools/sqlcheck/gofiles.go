package sqlcheck

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
)

var inline = regexp.MustCompile(`(?is)^\s*(select\b.+\bfrom\b|insert\s+into\s|update\s.+\sset\s|delete\s+from\s|with\s.+\bas\s*\()`)

// checkGo finds statements in Go code, which the checks of .sql files would miss. An engine's own dialect (engine_*.go), tests, and packages that
// start databases may contain SQL.
func checkGo(files fs.FS, excepted ...string) (findings []Finding, checked int, err error) {
	err = fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		for _, folder := range excepted {
			if entry.IsDir() && file == folder {
				return fs.SkipDir
			}
		}
		name := path.Base(file)
		if entry.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "engine_") {
			return nil
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return err
		}
		positions := token.NewFileSet()
		parsed, err := parser.ParseFile(positions, file, text, 0)
		if err != nil {
			return err
		}
		checked++
		ast.Inspect(parsed, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			if value, err := strconv.Unquote(literal.Value); err == nil && inline.MatchString(value) {
				line := positions.Position(literal.Pos()).Line
				findings = append(findings, Finding{file, "inline", fmt.Sprintf("line %d: a statement in Go code: give it a .sql file and a name", line)})
			}
			return true
		})
		return nil
	})
	return findings, checked, err
}
