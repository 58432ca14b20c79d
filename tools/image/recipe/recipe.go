// Package recipe says what the image is: the programs in it, how they are built, for which platforms, and as whom they run.
// It is data. The Dockerfile says the same for people, and a test holds the two together.
package recipe

import "strings"

// Module is the module that the image is made of.
const Module = "github.com/carve-ipam/carve"

// User is who the programs run as: nobody in particular, and never root. The number is what a cluster's policy can check.
const (
	UID      = 65532
	User     = "65532:65532"
	UserName = "nonroot"
)

// Port is the one that a server is expected to be told to listen on (--listen). Without a flag it listens on loopback alone,
// in a container as anywhere else.
const Port = "8080/tcp"

// GoVersion is the Go release that published images are built with. Another one makes other bytes.
const GoVersion = "1.26.8"

// Programs in the image: each is the package cmd/NAME, and the file /NAME.
var Programs = []string{"ipamctl", "server"}

// Entrypoint is what runs when nothing else is asked for.
var Entrypoint = []string{"/server"}

// Platform is an operating system and a processor, in Go's words, which are those of the image specification too.
type Platform struct{ OS, Arch string }

// String is as it is written in manifests: linux/amd64.
func (p Platform) String() string { return p.OS + "/" + p.Arch }

// Dashed is for names of files.
func (p Platform) Dashed() string { return p.OS + "-" + p.Arch }

// Platforms of the image, in the order of its index.
var Platforms = []Platform{{"linux", "amd64"}, {"linux", "arm64"}}

// BuildArgs are what `go build` is told, before the names of packages. They are the Makefile's, and leave out the tables for
// debuggers: stack traces and profiles do not need them, and they are a third of the program.
func BuildArgs(s Stamp) []string {
	return []string{"-trimpath", "-buildvcs=false", "-ldflags", strings.Join([]string{
		"-s", "-w",
		"-X", Module + "/internal/app.version=" + s.Version,
		"-X", Module + "/internal/app.commit=" + s.Commit,
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
