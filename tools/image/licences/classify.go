package licences

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/google/licensecheck"
)

// enough is the percentage of a file that must match known licences. The rest may only be names and years. The Go project's package site uses the
// same limit.
const enough = 75

var (
	licenceFile = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying)([-._].*)?$`)
	noticeFile  = regexp.MustCompile(`(?i)^notice([-._].*)?$`)
	sourceFile  = regexp.MustCompile(`(?i)\.(go|js|ts|py|sh|json|ya?ml|html?)$`)
)

// elsewhere lists licence files for code that is not in Carve's programs. It maps component and file to the reason.
var elsewhere = map[string]string{
	// The first lines of the file name its scope: GOEXPERIMENT=boringcrypto, which recipe.Environment disables.
	StandardLibrary + "/src/crypto/internal/boring/LICENSE": "BoringSSL is linked with GOEXPERIMENT=boringcrypto alone",
}

// classify returns a text's licences. An unknown text is an error, because a person has to read it.
func classify(text []byte) ([]string, error) {
	found := licensecheck.Scan(text)
	var ids []string
	for _, m := range found.Match {
		if !m.IsURL {
			ids = append(ids, m.ID)
		}
	}
	switch {
	case len(ids) == 0:
		return nil, errors.New("no licence is recognised in it")
	case found.Percent < enough:
		return nil, fmt.Errorf("only %.0f %% of it is a licence that is known (%s)", found.Percent, strings.Join(ids, ", "))
	}
	return ids, nil
}

// read adds the licences and notices in one directory of a component's files, and reports whether it found a licence.
func (c *Component) read(files fs.FS, dir string) (bool, error) {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return false, err
	}
	licensed := false
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		isLicence := licenceFile.MatchString(e.Name())
		if e.IsDir() || sourceFile.MatchString(e.Name()) || !isLicence && !noticeFile.MatchString(e.Name()) || elsewhere[c.Name+"/"+name] != "" {
			continue
		}
		if !c.has(name) {
			text, err := fs.ReadFile(files, name)
			if err != nil {
				return false, err
			}
			if isLicence {
				ids, err := classify(text)
				if err != nil {
					return false, fmt.Errorf("%s %s: %s: %w", c.Name, c.Version, name, err)
				}
				c.Licences = append(c.Licences, ids...)
			}
			c.Texts = append(c.Texts, Text{File: name, Content: string(text)})
		}
		licensed = licensed || isLicence
	}
	return licensed, nil
}

func (c *Component) has(file string) bool {
	for _, t := range c.Texts {
		if t.File == file {
			return true
		}
	}
	return false
}
