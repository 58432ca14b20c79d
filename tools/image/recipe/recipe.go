// Package recipe has the data that define the images, such as their programs, platforms and user. The Dockerfiles repeat these data for users, and a
// test compares both.
package recipe

import (
	"cmp"
	"runtime"
	"strings"
)

// Module is the checkout's module path, and the prefix for all its modules.
const Module = "github.com/carve-ipam/carve"

// User is the unprivileged user that runs the programs. It is numeric, so that a cluster's policy can check that it is not root.
const (
	UID      = 65532
	User     = "65532:65532"
	UserName = "nonroot"
)

// GoVersion is the Go release that builds the published images. Another Go release builds different bytes.
const GoVersion = "1.26.8"

// Image is one of the images.
type Image struct {
	// Name is the local name, before a push.
	Name string
	// Title and About are for registries and their users.
	Title, About string
	// Dir is the directory of the image's module, and Module its path.
	Dir, Module string
	// Programs has the names of the image's programs. The package of a program is cmd/NAME in the module, unless Package names another package. The
	// program's file in the image is /NAME. The last program runs by default.
	Programs []string
	Package  string
	// Port is the port that the image exposes.
	Port string
	// Stamped is the package in which the build sets version and commit.
	Stamped string
	// Dockerfile is the equivalent Dockerfile.
	Dockerfile string
}

// The images.
var (
	Server = Image{
		Name: "carve", Title: "Carve", About: "Carve hands out IP address space: server and ipamctl.", Dir: ".", Module: Module,
		Programs: []string{"ipamctl", "server"}, Port: "8080/tcp", Stamped: Module + "/internal/app", Dockerfile: "Dockerfile",
	}
	Controller = Image{
		Name: "carve-controller", Title: "Carve for Kubernetes", About: "Blocks of Carve for the pods of a Kubernetes cluster: carve-controller.",
		Dir: "controller", Module: Module + "/controller",
		Programs: []string{"carve-controller"}, Port: "8080/tcp", Stamped: "main", Dockerfile: "controller/Dockerfile",
	}
	Images = []Image{Server, Controller}
	// Provider is in no image, because Terraform runs it on the user's machine.
	Provider = Image{
		Name: "terraform-provider-carve", Dir: "terraform", Module: Module + "/terraform", Programs: []string{"terraform-provider-carve"}, Package: ".", Stamped: "main",
	}
)

// PackageOf returns a program's package, relative to its module.
func (i Image) PackageOf(program string) string { return cmp.Or(i.Package, "./cmd/"+program) }

// Entrypoint is the default command.
func (i Image) Entrypoint() []string { return []string{"/" + i.Programs[len(i.Programs)-1]} }

// Layout is the directory of the image for all platforms.
func (i Image) Layout() string {
	if i.Name == Server.Name {
		return "image"
	}
	return i.Name + "-image"
}

// Archive is the file for `docker load`.
func (i Image) Archive() string { return i.Name + "-image.tar" }

// SBOM is the file with the bill of materials for one platform's image.
func (i Image) SBOM(p Platform) string { return i.Name + "-image-" + p.Dashed() + ".spdx.json" }

// Platform is an operating system and a processor. The image specification uses the same names as Go.
type Platform struct{ OS, Arch string }

// String returns the form in manifests: linux/amd64.
func (p Platform) String() string { return p.OS + "/" + p.Arch }

// Dashed returns the form in file names.
func (p Platform) Dashed() string { return p.OS + "-" + p.Arch }

// Suffix returns the suffix of program names.
func (p Platform) Suffix() string {
	if p.OS == "windows" {
		return ".exe"
	}
	return ""
}

// Platforms has the platforms of the images, in the order of the index.
var Platforms = []Platform{{"linux", "amd64"}, {"linux", "arm64"}}

// Here returns the platform that this machine can run. The archive for `docker load` contains this platform.
func Here() Platform {
	for _, p := range Platforms {
		if p.Arch == runtime.GOARCH {
			return p
		}
	}
	return Platforms[0]
}

// BuildArgs returns the arguments of `go build` before the package names. They are the same as in the Makefile, except that they omit the tables for
// debuggers. These tables are a third of the program, and stack traces and profiles do not need them.
func BuildArgs(s Stamp) []string {
	return []string{"-trimpath", "-buildvcs=false", "-ldflags", strings.Join([]string{
		"-s", "-w",
		"-X", s.Image.Stamped + ".version=" + s.Version,
		"-X", s.Image.Stamped + ".commit=" + s.Commit,
	}, " ")}
}

// Environment returns the variables that affect a build's result. They override the caller's variables, so that the image does not depend on the
// environment of the build.
func Environment(p Platform) []string {
	return []string{
		"GOOS=" + p.OS, "GOARCH=" + p.Arch, "GOAMD64=v1", "GOARM64=v8.0",
		"CGO_ENABLED=0", // static programs, because the image has no loader and no libc
		"GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off", "GOTOOLCHAIN=local",
	}
}
