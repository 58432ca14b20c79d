package main

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// index is the page from which a reader must be able to reach all other pages.
const index = "docs/README.md"

// notPages lists folders with Markdown that belongs to other projects or is no documentation.
var notPages = map[string]bool{".git": true, "node_modules": true, "bin": true, "data": true, "testdata": true, "dist": true}

// pages reads all Markdown of a checkout.
func pages(root string) (map[string]*page, error) {
	all := map[string]*page{}
	err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && notPages[e.Name()] {
			return filepath.SkipDir
		}
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".md") {
			return nil
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		all[name], err = readPage(root, name)
		return err
	})
	return all, err
}

// checkLinks follows every link within the checkout.
func checkLinks(root string, all map[string]*page) []fault {
	var faults []fault
	for _, p := range sorted(all) {
		for _, l := range p.links {
			if what := follow(root, all, p, l.to); what != "" {
				faults = append(faults, fault{path: p.path, line: l.line, what: fmt.Sprintf("the link to %s: %s", l.to, what)})
			}
		}
	}
	return faults
}

// follow returns the fault of a link, or "".
func follow(root string, all map[string]*page, from *page, to string) string {
	u, err := url.Parse(to)
	switch {
	case err != nil:
		return err.Error()
	case u.Scheme != "" || u.Host != "":
		return "" // an external link
	case strings.HasPrefix(u.Path, "/"):
		return "begins with /, which is another place in a checkout and on a web page"
	}
	file := target(from, u)
	if strings.HasPrefix(file, "../") {
		return "leads out of the checkout"
	}
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(file))); err != nil {
		return "there is no such file"
	}
	if p := all[file]; p != nil && u.Fragment != "" && !p.anchors[u.Fragment] {
		return "there is no such heading"
	}
	return ""
}

// target returns the file that a relative link names.
func target(from *page, u *url.URL) string {
	if u.Path == "" {
		return from.path
	}
	return path.Join(path.Dir(from.path), u.Path)
}

// checkReach finds pages that no path of links from the index reaches.
func checkReach(all map[string]*page) []fault {
	if all[index] == nil {
		return []fault{{path: index, line: 1, what: "is missing"}}
	}
	reached := map[string]bool{index: true}
	queue := []*page{all[index]}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		for _, l := range p.links {
			u, err := url.Parse(l.to)
			if err != nil || u.Scheme != "" || u.Host != "" {
				continue
			}
			file := target(p, u)
			if all[file] == nil {
				file = path.Join(file, "README.md") // a link to a folder shows its README
			}
			if next := all[file]; next != nil && !reached[file] {
				reached[file] = true
				queue = append(queue, next)
			}
		}
	}
	var faults []fault
	for _, p := range sorted(all) {
		if top := !strings.Contains(p.path, "/"); (top || strings.HasPrefix(p.path, "docs/")) && !reached[p.path] {
			faults = append(faults, fault{path: p.path, line: 1, what: "cannot be reached from " + index})
		}
	}
	return faults
}
