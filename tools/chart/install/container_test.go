package install

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
)

// sandbox has the common parts of one pod's containers: a root folder, an address and a user.
type sandbox struct {
	root, name, ip string
	who            *syscall.SysProcAttr
	kept           map[string]string // directories in the root that outlive the pod, with their later paths
	api            string            // host:port of the API server
}

// newSandbox makes the root folder: the image's two files, and the pod's volumes at the mount paths of its containers. The pod's user cannot write to
// anything else in it, as with readOnlyRootFilesystem.
func newSandbox(ctx context.Context, plane *controlPlane, pod *core.Pod, dir, ip string) (*sandbox, error) {
	root := filepath.Join(dir, pod.Name)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	if pod.Spec.Containers[0].Image == backupImage {
		if err := addDump(ctx, root); err != nil {
			return nil, err
		}
	}
	for _, program := range []string{"server", "ipamctl"} {
		if err := copyFile(filepath.Join(imageDir, program), filepath.Join(root, program)); err != nil {
			return nil, err
		}
	}
	// Like a kubelet, adds the pod's own name.
	if err := os.MkdirAll(filepath.Join(root, "etc"), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(root, "etc/hosts"), []byte("127.0.0.1 localhost\n"+ip+" "+pod.Name+"\n"), 0o644); err != nil {
		return nil, err
	}
	group := -1
	if s := pod.Spec.SecurityContext; s != nil && s.FSGroup != nil && os.Geteuid() == 0 {
		group = int(*s.FSGroup)
	}
	kept := map[string]string{}
	for _, named := range pod.Spec.Volumes {
		v, err := open(ctx, plane, pod, filepath.Join(dir, "claims"), named.VolumeSource)
		if err != nil {
			return nil, fmt.Errorf("volume %s: %w", named.Name, err)
		}
		for _, container := range append(pod.Spec.InitContainers, pod.Spec.Containers...) {
			for _, mount := range container.VolumeMounts {
				if mount.Name != named.Name {
					continue
				}
				at := filepath.Join(root, mount.MountPath)
				if err := v.mount(at, group); err != nil {
					return nil, err
				}
				if v.kept != "" {
					kept[at] = v.kept
				}
			}
		}
	}
	who, err := identity(pod, root)
	return &sandbox{root: root, name: pod.Name, ip: ip, who: who, kept: kept, api: strings.TrimPrefix(plane.url, "https://")}, err
}

// remove removes the root folder, except for its kept directories.
func (s *sandbox) remove() error {
	for dir, kept := range s.kept {
		if err := os.Rename(dir, kept); err != nil {
			return err
		}
	}
	return os.RemoveAll(s.root)
}

// identity returns the user of the pod's processes, in the pod's root. Without root rights it needs a user namespace.
func identity(pod *core.Pod, root string) (*syscall.SysProcAttr, error) {
	s := pod.Spec.SecurityContext
	if s == nil || s.RunAsUser == nil || s.RunAsGroup == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot {
		return nil, fmt.Errorf("pod %s does not say which user it runs as", pod.Name)
	}
	uid, gid := uint32(*s.RunAsUser), uint32(*s.RunAsGroup)
	who := &syscall.SysProcAttr{Chroot: root, Pdeathsig: syscall.SIGKILL, Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	if s.FSGroup != nil {
		who.Credential.Groups = []uint32{uint32(*s.FSGroup)}
	}
	if os.Geteuid() != 0 {
		who.Cloneflags = syscall.CLONE_NEWUSER
		who.UidMappings = []syscall.SysProcIDMap{{ContainerID: int(uid), HostID: os.Geteuid(), Size: 1}}
		who.GidMappings = []syscall.SysProcIDMap{{ContainerID: int(gid), HostID: os.Getegid(), Size: 1}}
		who.Credential.Groups, who.Credential.NoSetGroups = nil, true
	}
	return who, nil
}

// wildcard matches a flag that listens on all addresses of a pod. Here all pods share one loopback interface, so each gets its own address there, by
// its name. As with the wildcard, the server does not treat that address as local to the machine.
var wildcard = regexp.MustCompile(`^(--[a-z-]*listen)=:([0-9]+)$`)

// process is a running container.
type process struct {
	cmd    *exec.Cmd
	output *transcript
	ended  chan struct{}
}

func (s *sandbox) start(container *core.Container, links bool) (*process, error) {
	args := make([]string, 0, len(container.Args))
	env := slices.Clone(container.Env)
	var known []string
	for i, v := range env {
		if v.ValueFrom != nil { // the chart uses no other reference
			env[i].Value = s.name
		}
		known = append(known, "$("+v.Name+")", env[i].Value)
	}
	for _, arg := range container.Args {
		args = append(args, wildcard.ReplaceAllString(strings.NewReplacer(known...).Replace(arg), "${1}="+s.name+":$2"))
	}
	p := &process{cmd: s.command(env, links, container.Command[0], append(container.Command[1:], args...)...), output: &transcript{}, ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// command returns a program of the image with a container's environment, as for `kubectl exec`.
func (s *sandbox) command(env []core.EnvVar, links bool, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = "/"
	who := *s.who
	cmd.SysProcAttr = &who
	host, port, _ := strings.Cut(s.api, ":")
	cmd.Env = []string{"PATH=/", "HOME=/", "KUBERNETES_SERVICE_HOST=" + host, "KUBERNETES_SERVICE_PORT=" + port}
	if links { // Kubernetes sets these for a Service called carve
		cmd.Env = append(cmd.Env, "CARVE_SERVICE_HOST=10.96.0.2", "CARVE_PORT=tcp://10.96.0.2:443")
	}
	for _, v := range env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	return cmd
}

// stop asks a process to end within the grace period; killed reports that it did not.
func (p *process) stop(grace time.Duration) (killed bool) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.ended:
		return false
	case <-timer.C:
		_ = p.cmd.Process.Kill()
		<-p.ended
		return true
	}
}

func (p *process) exitCode() int { return p.cmd.ProcessState.ExitCode() }

// transcript is a container's output.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *transcript) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(b)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.text.String())
}
