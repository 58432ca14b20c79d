package install

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// The programs that the tests run; make chart-install builds them.
var (
	helmBinary = absolute("../../../bin/helm")
	etcdBinary = absolute("../../../bin/kubeapi/etcd")
	apiBinary  = absolute("../../../bin/kubeapi/kube-apiserver")
	// The folder of the image's /server and /ipamctl, which are static: a container has no libraries.
	imageDir string
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if runtime.GOOS != "linux" {
		fmt.Println("skipped: a container is played by Linux' chroot")
		return 0
	}
	for _, program := range []string{helmBinary, etcdBinary, apiBinary} {
		if _, err := os.Stat(program); err != nil {
			fmt.Printf("skipped: %s is not there. `make chart-install` builds it, and everything else that this takes\n", program)
			return 0
		}
	}
	if imageDir = os.Getenv("CARVE_IMAGE_BIN"); imageDir != "" { // the caller has built static programs
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "carve-image-")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	imageDir = dir
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", dir+"/", "./cmd/server", "./cmd/ipamctl")
	cmd.Dir = "../../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Printf("the image's programs: %v: %s\n", err, out)
		return 1
	}
	return m.Run()
}

func absolute(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		panic(err)
	}
	return abs
}
