package docs

import (
	"io/fs"
	"path"
	"strings"
	"sync"
)

// Has reports whether the handler serves a URL's path, so that the service can render its own 404 for the others.
func Has(urlPath string) bool {
	name, inside := strings.CutPrefix(urlPath, Path)
	return urlPath+"/" == Path || inside && (name == "" || names()[name])
}

// names returns the file names; all have the same path prefix in a browser.
var names = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	_ = fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			set[path.Base(file)] = true
		}
		return err
	})
	return set
})
