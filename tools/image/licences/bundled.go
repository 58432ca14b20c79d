package licences

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Bundled adds the licence texts of the console's packages, which the server embeds. npm has installed the packages (`make console`), and their
// licences must match the lock file.
func Bundled(repo string, components []Component) error {
	for i := range components {
		c := &components[i]
		if c.Kind != NPM || len(c.Texts) > 0 || !slices.Contains(c.In, "server") {
			continue
		}
		dir := filepath.Join(repo, "console", "node_modules", filepath.FromSlash(c.Name))
		var installed struct{ Version string }
		text, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err == nil {
			err = json.Unmarshal(text, &installed)
		}
		if err != nil {
			return fmt.Errorf("the console's packages are not installed (make console): %w", err)
		}
		locked := c.Licences
		c.Licences = nil
		licensed, err := c.read(os.DirFS(dir), ".")
		if err != nil {
			return err
		}
		if !licensed || installed.Version != c.Version || !slices.Equal(c.Licences, locked) {
			return fmt.Errorf("%s: the lock file says %s and %v, what is installed says %s and %v", c.Name, c.Version, locked, installed.Version, c.Licences)
		}
	}
	return nil
}
