// Package sbom describes an image's content in an SPDX 2.3 document. It reads the list of modules that the linker wrote into the programs. That list
// is exact, unlike the requirements in go.mod.
package sbom

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/package-url/packageurl-go"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
	"github.com/spdx/tools-golang/spdxlib"

	"github.com/carve-ipam/carve/tools/image/licences"
	"github.com/carve-ipam/carve/tools/image/recipe"
)

// MediaType is the media type of the document. Registries use it to distinguish documents about an image.
const MediaType = "application/spdx+json"

// Subject is the described image.
type Subject struct {
	Platform recipe.Platform
	Stamp    recipe.Stamp
	// File is the name of the archive or package with the programs, or "" for an image.
	File string
	// Digest is the digest of the image's manifest or of the file, with the prefix "sha256:".
	Digest string
	// Dir contains the subject's programs.
	Dir string
	// Components has the components with their licences. It must include all linked code.
	Components []licences.Component
}

// Document describes the image. Two calls for the same image return the same bytes.
func Document(s Subject) ([]byte, error) {
	d := &draft{subject: s, packages: map[string]*spdx.Package{}}
	about := &spdx.Package{
		PackageName: s.Stamp.Image.Name, PackageVersion: s.Stamp.Version, PrimaryPackagePurpose: "CONTAINER",
		PackageLicenseDeclared: "Apache-2.0", PackageLicenseConcluded: "Apache-2.0",
		PackageChecksums: []common.Checksum{{Algorithm: common.SHA256, Value: strings.TrimPrefix(s.Digest, "sha256:")}},
		PackageExternalReferences: purl(packageurl.NewPackageURL(packageurl.TypeOCI, "", s.Stamp.Image.Name, s.Digest,
			packageurl.QualifiersFromMap(map[string]string{"arch": s.Platform.Arch, "os": s.Platform.OS}), "")),
	}
	if s.File != "" {
		about.PrimaryPackagePurpose, about.PackageFileName, about.PackageExternalReferences = "ARCHIVE", s.File, nil
	}
	image := d.add(about)
	d.relate("DOCUMENT", common.TypeRelationshipDescribe, image)
	for _, name := range s.Stamp.Image.Programs {
		if err := d.program(image, name); err != nil {
			return nil, err
		}
	}
	for _, c := range s.Components {
		switch {
		case c.Name == licences.Authorities && s.File != "": // an archive's programs use the system's authorities
		case c.Name == licences.Authorities:
			d.relate(image, common.TypeRelationshipContains, d.component(c, c.Version, ""))
		case c.Kind == licences.NPM:
			for _, name := range s.Stamp.Image.Programs {
				if slices.Contains(c.In, name) {
					d.relate(id("carve/"+name), common.TypeRelationshipContains, d.component(c, c.Version, ""))
				}
			}
		}
	}
	return d.write()
}

// program adds one program with the code that is linked into it.
func (d *draft) program(image common.ElementID, name string) error {
	file := filepath.Join(d.subject.Dir, name+d.subject.Platform.Suffix())
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return err
	}
	sum, err := hash(file)
	if err != nil {
		return err
	}
	program := d.add(&spdx.Package{
		PackageName: "carve/" + name, PackageVersion: d.subject.Stamp.Version, PackageFileName: "/" + name, PrimaryPackagePurpose: "APPLICATION",
		PackageLicenseDeclared: "Apache-2.0", PackageLicenseConcluded: "Apache-2.0",
		PackageChecksums:          []common.Checksum{{Algorithm: common.SHA256, Value: sum}},
		PackageSourceInfo:         "commit " + d.subject.Stamp.Commit,
		PackageExternalReferences: purl(goModule(d.subject.Stamp.Image.Module, d.subject.Stamp.Version, strings.TrimLeft(d.subject.Stamp.Image.PackageOf(name), "./"))),
	})
	d.relate(image, common.TypeRelationshipContains, program)
	standard := d.find(licences.StandardLibrary)
	if standard == nil {
		return fmt.Errorf("%s is built with Go, whose licence was not looked at", name)
	}
	d.relate(program, common.TypeRelationshipDependsOn, d.component(*standard, strings.TrimPrefix(info.GoVersion, "go"), ""))
	for _, m := range info.Deps {
		if m.Path == recipe.Module {
			continue // this repository's own, from this commit
		}
		c := d.find(m.Path)
		if c == nil {
			return fmt.Errorf("%s has %s linked into it, whose licence was not looked at", name, m.Path)
		}
		if m.Replace != nil {
			m = m.Replace
		}
		d.relate(program, common.TypeRelationshipDependsOn, d.component(*c, m.Version, m.Sum))
	}
	return nil
}

// write validates and formats the document.
func (d *draft) write() ([]byte, error) {
	doc := d.document()
	if err := spdxlib.ValidateDocument(doc); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := spdxjson.Write(doc, &out, spdxjson.Indent("  "), spdxjson.EscapeHTML(false)); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// namespace returns a unique name of the document, derived from its subject.
func (d *draft) namespace() string {
	sum := sha256.Sum256([]byte(d.subject.Digest))
	return "https://" + recipe.Module + "/spdx/" + d.subject.Platform.Dashed() + "-" + hex.EncodeToString(sum[:16])
}
