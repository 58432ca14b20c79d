package licences

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"
)

// Authorities is the module with the certificate authorities of the image.
const Authorities = "golang.org/x/crypto/x509roots/fallback"

// authorities describes the certificate authorities. This program links their module and Carve does not, so the version is in this program's go.mod.
// The list is Mozilla's, under the MPL. The module only changes the list's format.
func authorities(repo string) (map[string]*Component, error) {
	at := filepath.Join(repo, "tools", "image", "go.mod")
	text, err := os.ReadFile(at)
	if err != nil {
		return nil, err
	}
	mod, err := modfile.Parse(at, text, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range mod.Require {
		if r.Mod.Path == Authorities {
			return map[string]*Component{Authorities: {
				Name: Authorities, Version: r.Mod.Version, Kind: Module, Licences: []string{"MPL-2.0"}, In: []string{"image"},
				Texts: []Text{{File: "NOTICE", Content: authoritiesNotice}},
			}}, nil
		}
	}
	return nil, fmt.Errorf("%s does not require %s", at, Authorities)
}

const authoritiesNotice = `The certificate authorities in /etc/ssl/certs/ca-certificates.crt are those of Mozilla's CA certificate programme,
under the Mozilla Public License 2.0 (https://mozilla.org/MPL/2.0/), in the form in which the Go project publishes them.
Their source is certdata.txt of Mozilla's NSS.
`
