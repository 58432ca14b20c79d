// Command concurrent lists a module's concurrent tests, so that the race detector runs for these and not for all. A test is concurrent if its name
// contains Concurrent, or if it starts a goroutine: itself, or through another declaration in its package's test files.
//
// The output is one line: a regular expression of the names, and the packages that have such a name. In these packages, go test's -run and -skip
// select complementary tests.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

func main() {
	line, err := list(os.DirFS(os.Args[1]))
	if err == nil {
		_, err = fmt.Fprintln(os.Stdout, line)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "concurrent:", err)
		os.Exit(1)
	}
}

// declared is the declarations of one name in a package's test files. Methods of different types share a name.
type declared struct {
	concurrent bool
	uses       map[string]bool // names that the declarations call or pass to a call
}

func list(module fs.FS) (line string, err error) {
	packages := map[string]map[string]*declared{}
	err = fs.WalkDir(module, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return skip(module, name)
		case !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		dir := path.Dir(name)
		if packages[dir] == nil {
			packages[dir] = map[string]*declared{}
		}
		return read(module, name, packages[dir])
	})
	if err != nil {
		return "", err
	}
	names := map[string]bool{}
	for _, in := range packages {
		spread(in)
		for name, d := range in {
			if d.concurrent && strings.HasPrefix(name, "Test") {
				names[name] = true
			}
		}
	}
	line = "^(" + strings.Join(slices.Sorted(maps.Keys(names)), "|") + ")$"
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		for name := range packages[dir] {
			if names[name] {
				line += " ./" + dir
				break
			}
		}
	}
	return line, nil
}

// skip skips directories that are not in the module.
func skip(module fs.FS, dir string) error {
	if dir == "." {
		return nil
	}
	_, err := fs.Stat(module, dir+"/go.mod")
	if base := path.Base(dir); err == nil || base[0] == '.' || base == "testdata" || base == "node_modules" {
		return fs.SkipDir
	}
	return nil
}

func read(module fs.FS, name string, in map[string]*declared) error {
	text, err := fs.ReadFile(module, name)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			note(in, d.Name.Name, d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if values, ok := spec.(*ast.ValueSpec); ok {
					for _, each := range values.Names {
						note(in, each.Name, values)
					}
				}
			}
		}
	}
	return nil
}

// note records what a declaration uses.
func note(in map[string]*declared, name string, decl ast.Node) {
	d := in[name]
	if d == nil {
		d = &declared{concurrent: strings.HasPrefix(name, "Test") && strings.Contains(name, "Concurrent"), uses: map[string]bool{}}
		in[name] = d
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			d.concurrent = true
		case *ast.Ident:
			d.concurrent = d.concurrent || n.Name == "errgroup" || n.Name == "WaitGroup"
		case *ast.CallExpr:
			for _, part := range slices.Concat(n.Args, []ast.Expr{n.Fun}) {
				if generic, ok := part.(*ast.IndexExpr); ok {
					part = generic.X
				}
				switch part := part.(type) {
				case *ast.Ident:
					d.uses[part.Name] = true
				case *ast.SelectorExpr:
					d.uses[part.Sel.Name] = true
				}
			}
			s, ok := n.Fun.(*ast.SelectorExpr)
			d.concurrent = d.concurrent || ok && s.Sel.Name == "Go"
		}
		return true
	})
}

// spread marks each declaration that uses a concurrent one.
func spread(in map[string]*declared) {
	for again := true; again; {
		again = false
		for _, d := range in {
			if d.concurrent {
				continue
			}
			for use := range d.uses {
				if used := in[use]; used != nil && used.concurrent {
					d.concurrent, again = true, true
					break
				}
			}
		}
	}
}
