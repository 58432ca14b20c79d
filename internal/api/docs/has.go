package docs

import (
	"io/fs"
	"path"
	"strings"
	"sync"
)

// Has reports whether the handler serves a URL path. For other paths, the service renders its own 404.
func Has(urlPath string) bool {
	name, inside := strings.CutPrefix(urlPath, Path)
	return urlPath+"/" == Path || inside && (name == "" || names()[name])
}

// names returns the names of all files, without their folders, because a browser sees all files directly under Path.
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
