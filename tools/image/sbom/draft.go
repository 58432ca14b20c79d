package sbom

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/package-url/packageurl-go"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"

	"github.com/carve-ipam/carve/tools/image/licences"
)

// draft is an unfinished document.
type draft struct {
	subject       Subject
	packages      map[string]*spdx.Package // by element id
	relationships []*spdx.Relationship
}

const noAssertion = "NOASSERTION"

var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// id returns the element id of a package.
func id(name string) common.ElementID {
	return common.ElementID("Package-" + notInID.ReplaceAllString(name, "-"))
}

// add adds a package, once.
func (d *draft) add(p *spdx.Package) common.ElementID {
	p.PackageSPDXIdentifier = id(p.PackageName)
	p.PackageDownloadLocation = noAssertion
	p.PackageCopyrightText = noAssertion
	p.IsFilesAnalyzedTagPresent = true
	d.packages[string(p.PackageSPDXIdentifier)] = p
	return p.PackageSPDXIdentifier
}

// component adds third-party code. Its declared and concluded licences come from the licence check.
func (d *draft) component(c licences.Component, version, sum string) common.ElementID {
	p := &spdx.Package{
		PackageName: c.Name, PackageVersion: version, PrimaryPackagePurpose: "LIBRARY",
		PackageLicenseDeclared: c.Expression(), PackageLicenseConcluded: c.Expression(),
	}
	if sum != "" {
		p.PackageSourceInfo = "go.sum " + sum
	}
	switch c.Kind {
	case licences.Standard:
		p.PackageExternalReferences = purl(goModule("stdlib", version, ""))
	case licences.Module:
		p.PackageExternalReferences = purl(goModule(c.Name, version, ""))
	case licences.NPM:
		scope, name, scoped := strings.Cut(c.Name, "/")
		if !scoped {
			scope, name = "", c.Name
		}
		p.PackageExternalReferences = purl(packageurl.NewPackageURL(packageurl.TypeNPM, scope, name, version, nil, ""))
	}
	return d.add(p)
}

func (d *draft) find(name string) *licences.Component {
	for i := range d.subject.Components {
		if d.subject.Components[i].Name == name {
			return &d.subject.Components[i]
		}
	}
	return nil
}

func (d *draft) relate(a common.ElementID, how string, b common.ElementID) {
	d.relationships = append(d.relationships, &spdx.Relationship{
		RefA: common.DocElementID{ElementRefID: a}, Relationship: how, RefB: common.DocElementID{ElementRefID: b},
	})
}

func (d *draft) document() *spdx.Document {
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName: d.subject.Stamp.Image.Name + "-" + d.subject.Stamp.Version + "-" + d.subject.Platform.Dashed(), DocumentNamespace: d.namespace(),
		CreationInfo: &spdx.CreationInfo{
			Created:  d.subject.Stamp.Created.UTC().Format(time.RFC3339),
			Creators: []common.Creator{{CreatorType: "Organization", Creator: "The Carve authors"}, {CreatorType: "Tool", Creator: "carve-tools-image"}},
		},
		Relationships: d.relationships,
	}
	for _, p := range d.packages {
		doc.Packages = append(doc.Packages, p)
	}
	slices.SortFunc(doc.Packages, func(a, b *spdx.Package) int { return cmp.Compare(a.PackageSPDXIdentifier, b.PackageSPDXIdentifier) })
	return doc
}

// goModule returns the package URL of a module, or of a package in it. Scanners use this URL.
func goModule(path, version, pkg string) *packageurl.PackageURL {
	namespace, name := "", path
	if cut := strings.LastIndexByte(path, '/'); cut >= 0 {
		namespace, name = path[:cut], path[cut+1:]
	}
	return packageurl.NewPackageURL(packageurl.TypeGolang, namespace, name, version, nil, pkg)
}

func purl(p *packageurl.PackageURL) []*spdx.PackageExternalReference {
	return []*spdx.PackageExternalReference{{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: p.ToString()}}
}

func hash(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}
