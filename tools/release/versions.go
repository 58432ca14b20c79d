package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// place is an occurrence of the version in a file other than VERSION. The version is between the pattern's two groups.
type place struct {
	file    string
	pattern *regexp.Regexp
}

// semver matches a version of semver.org without a leading v. It does not match build metadata, because image tags cannot contain it.
const semver = `(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?`

func at(file, before, after string) place {
	return place{file, regexp.MustCompile(`(?m)(` + before + `)` + semver + `(` + after + `)`)}
}

// places lists all files that repeat the version. Programs, images and packages are not listed, because they get the version when they are built.
var places = []place{
	at("openapi.yaml", `\Aopenapi: .*\ninfo:\n  title: Carve\n  version: `, `$`),
	at("client/version.go", `const ContractVersion = "`, `"`),
	at("clients/typescript/src/version.ts", `contractVersion = "`, `"`),
	at("clients/typescript/package.json", `\A\{\n  "name": ".*",\n  "version": "`, `"`),
	at("clients/typescript/package-lock.json", `\A\{\n  "name": ".*",\n  "version": "`, `"`),
	at("clients/typescript/package-lock.json", `    "": \{\n      "name": ".*",\n      "version": "`, `"`),
	at("console/package.json", `\A\{\n  "name": ".*",\n  "version": "`, `"`),
	at("console/package-lock.json", `\A\{\n  "name": ".*",\n  "version": "`, `"`),
	at("console/package-lock.json", `    "": \{\n      "name": ".*",\n      "version": "`, `"`),
	at("helm/carve/Chart.yaml", `^version: `, `$`),
	at("helm/carve/Chart.yaml", `^appVersion: `, `$`),
	at("helm/carve-controller/Chart.yaml", `^version: `, `$`),
	at("helm/carve-controller/Chart.yaml", `^appVersion: `, `$`),
	at("docs/kubernetes.md", `^COPY --from=carve:`, ` /ipamctl`),
	at("docs/upgrade.md", `the next version is `, `\.`),
}

// version reads the file VERSION.
func version(repo string) (string, error) {
	text, err := os.ReadFile(filepath.Join(repo, "VERSION"))
	if err != nil {
		return "", err
	}
	v := strings.TrimSuffix(string(text), "\n")
	if !regexp.MustCompile(`\A` + semver + `\z`).MatchString(v) {
		return "", fmt.Errorf("VERSION says %q, which is no version such as 1.2.3 or 1.3.0-rc.1", v)
	}
	return v, nil
}

// misplaced returns the places with another version. If write is set, it corrects them.
func misplaced(repo, v string, write bool) ([]string, error) {
	var wrong []string
	for _, p := range places {
		name := filepath.Join(repo, p.file)
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if !p.pattern.Match(text) {
			return nil, fmt.Errorf("%s has no version where one is expected (%s)", p.file, p.pattern)
		}
		right := p.pattern.ReplaceAllString(string(text), "${1}"+v+"${2}")
		if right == string(text) {
			continue
		}
		wrong = append(wrong, p.file)
		if write {
			if err := os.WriteFile(name, []byte(right), 0o644); err != nil { //nolint:gosec // G306: sources are for everybody to read
				return nil, err
			}
		}
	}
	return wrong, nil
}
