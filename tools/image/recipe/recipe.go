// Package recipe says what the images are: the programs in them, how they are built, for which platforms, and as whom they run.
// It is data. The Dockerfiles say the same for people, and a test holds them together.
package recipe

import (
	"cmp"
	"runtime"
	"strings"
)

// Module is the module of the checkout, and what all that is ours begins with.
const Module = "github.com/carve-ipam/carve"

// User is who the programs run as: nobody in particular, and never root. The number is what a cluster's policy can check.
const (
	UID      = 65532
	User     = "65532:65532"
	UserName = "nonroot"
)

// GoVersion is the Go release that published images are built with. Another one makes other bytes.
const GoVersion = "1.26.8"

// Image is one of the images.
type Image struct {
	// Name is what it is called until it is pushed somewhere.
	Name string
	// Title and About are for registries and their users.
	Title, About string
	// Dir is the directory of the module that it is made of, and Module is how that is called.
	Dir, Module string
	// Programs in it: each is the package cmd/NAME of the module, unless Package is the only one's, and the file /NAME. The last one runs when
	// nothing else is asked for.
	Programs []string
	Package  string
	// Port is the one that the program is expected to be told to listen on, if it is not by default.
	Port string
	// Stamped is the package whose version and commit are set.
	Stamped string
	// Dockerfile is the file that says the same.
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
	// Provider is in no image: Terraform runs it where it runs itself.
	Provider = Image{
		Name: "terraform-provider-carve", Dir: "terraform", Module: Module + "/terraform", Programs: []string{"terraform-provider-carve"}, Package: ".", Stamped: "main",
	}
)

// PackageOf is the package that a program is built from, below its module.
func (i Image) PackageOf(program string) string { return cmp.Or(i.Package, "./cmd/"+program) }

// Entrypoint is what runs when nothing else is asked for.
func (i Image) Entrypoint() []string { return []string{"/" + i.Programs[len(i.Programs)-1]} }

// Layout is the directory of the image for all platforms, Archive the file for engines, and SBOM the document about one platform's.
func (i Image) Layout() string {
	if i.Name == Server.Name {
		return "image"
	}
	return i.Name + "-image"
}

// Archive is for `docker load`.
func (i Image) Archive() string { return i.Name + "-image.tar" }

// SBOM is the bill of materials of one platform's image.
func (i Image) SBOM(p Platform) string { return i.Name + "-image-" + p.Dashed() + ".spdx.json" }

// Platform is an operating system and a processor, in Go's words, which are those of the image specification too.
type Platform struct{ OS, Arch string }

// String is as it is written in manifests: linux/amd64.
func (p Platform) String() string { return p.OS + "/" + p.Arch }

// Dashed is for names of files.
func (p Platform) Dashed() string { return p.OS + "-" + p.Arch }

// Suffix is what the names of programs end with.
func (p Platform) Suffix() string {
	if p.OS == "windows" {
		return ".exe"
	}
	return ""
}

// Platforms of the image, in the order of its index.
var Platforms = []Platform{{"linux", "amd64"}, {"linux", "arm64"}}

// Here is the one among them that this machine can run: archives for engines are of that one.
func Here() Platform {
	for _, p := range Platforms {
		if p.Arch == runtime.GOARCH {
			return p
		}
	}
	return Platforms[0]
}

// BuildArgs are what `go build` is told, before the names of packages. They are the Makefile's, and leave out the tables for
// debuggers: stack traces and profiles do not need them, and they are a third of the program.
func BuildArgs(s Stamp) []string {
	return []string{"-trimpath", "-buildvcs=false", "-ldflags", strings.Join([]string{
		"-s", "-w",
		"-X", s.Image.Stamped + ".version=" + s.Version,
		"-X", s.Image.Stamped + ".commit=" + s.Commit,
	}, " ")}
}

// Environment is all that decides what a build makes besides its arguments and its sources. What the caller's own environment
// has of these is overridden: the image does not depend on who builds it.
func Environment(p Platform) []string {
	return []string{
		"GOOS=" + p.OS, "GOARCH=" + p.Arch, "GOAMD64=v1", "GOARM64=v8.0",
		"CGO_ENABLED=0", // static programs: there is no loader and no libc in the image
		"GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off", "GOTOOLCHAIN=local",
	}
}
