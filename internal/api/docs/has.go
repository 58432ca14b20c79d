package docs

import (
	"io/fs"
	"path"
	"strings"
	"sync"
)

// Has reports whether the handler has something at a path of a URL, so that the service can refuse the others in its own way.
func Has(urlPath string) bool {
	name, inside := strings.CutPrefix(urlPath, Path)
	return urlPath+"/" == Path || inside && (name == "" || names()[name])
}

// names are those of the files, which all lie in one folder as far as the browser knows.
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
