package install

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// sandbox is what the containers of one pod share: a root folder, an address and a user.
type sandbox struct {
	root, name, ip string
	who            *syscall.SysProcAttr
}

// newSandbox makes the root folder: the image's two files, and the pod's volumes where its containers mount them. Nothing in it can be written to by
// the pod's user, as with readOnlyRootFilesystem.
func newSandbox(ctx context.Context, clients kubernetes.Interface, pod *core.Pod, root, ip string) (*sandbox, error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	for _, program := range []string{"server", "ipamctl"} {
		if err := copyFile(filepath.Join(imageDir, program), filepath.Join(root, program)); err != nil {
			return nil, err
		}
	}
	// As a kubelet does, it tells the pod its own name.
	if err := os.Mkdir(filepath.Join(root, "etc"), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(root, "etc/hosts"), []byte("127.0.0.1 localhost\n"+ip+" "+pod.Name+"\n"), 0o644); err != nil {
		return nil, err
	}
	group := -1
	if s := pod.Spec.SecurityContext; s != nil && s.FSGroup != nil && os.Geteuid() == 0 {
		group = int(*s.FSGroup)
	}
	for _, volume := range pod.Spec.Volumes {
		files, mode, err := contents(ctx, clients, pod.Namespace, volume)
		if err != nil {
			return nil, err
		}
		for _, container := range append(pod.Spec.InitContainers, pod.Spec.Containers...) {
			for _, mount := range container.VolumeMounts {
				if mount.Name != volume.Name {
					continue
				}
				dir := filepath.Join(root, mount.MountPath)
				if err := os.MkdirAll(dir, 0o755); err != nil {
					return nil, err
				}
				for name, content := range files {
					if err := mountFile(filepath.Join(dir, name), content, os.FileMode(mode), group); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	who, err := identity(pod, root)
	return &sandbox{root: root, name: pod.Name, ip: ip, who: who}, err
}

// contents are the files of a volume.
func contents(ctx context.Context, clients kubernetes.Interface, namespace string, volume core.Volume) (map[string][]byte, int32, error) {
	var all map[string][]byte
	var items []core.KeyToPath
	var mode int32
	switch {
	case volume.Secret != nil:
		secret, err := clients.CoreV1().Secrets(namespace).Get(ctx, volume.Secret.SecretName, meta.GetOptions{})
		if err != nil {
			return nil, 0, err
		}
		all, items, mode = secret.Data, volume.Secret.Items, *volume.Secret.DefaultMode
	case volume.ConfigMap != nil:
		config, err := clients.CoreV1().ConfigMaps(namespace).Get(ctx, volume.ConfigMap.Name, meta.GetOptions{})
		if err != nil {
			return nil, 0, err
		}
		all, items, mode = map[string][]byte{}, volume.ConfigMap.Items, *volume.ConfigMap.DefaultMode
		for name, text := range config.Data {
			all[name] = []byte(text)
		}
	default:
		return nil, 0, fmt.Errorf("volume %s is of a kind that this kubelet does not know", volume.Name)
	}
	if len(items) == 0 {
		return all, mode, nil
	}
	chosen := map[string][]byte{}
	for _, item := range items {
		content, ok := all[item.Key]
		if !ok {
			return nil, 0, fmt.Errorf("volume %s: there is no key %s", volume.Name, item.Key)
		}
		chosen[item.Path] = content
	}
	return chosen, mode, nil
}

// mountFile gives a file the mode that the volume asks for, and the pod's group. A user of a namespace of its own owns it.
func mountFile(path string, content []byte, mode os.FileMode, group int) error {
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return err
	}
	if err := os.Chown(path, -1, group); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}

// identity is the user that the pod's processes run as, in the pod's root. Without root that takes a namespace of users.
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

// wildcard is a flag that listens on all addresses of a pod. Here all pods share one loopback interface, so each gets its own address of it, by its
// name: to the server, that is as little this machine alone as the wildcard is.
var wildcard = regexp.MustCompile(`^(--[a-z-]*listen)=:([0-9]+)$`)

// process is a container that runs.
type process struct {
	cmd    *exec.Cmd
	output *transcript
	ended  chan struct{}
}

func (s *sandbox) start(container *core.Container, links bool) (*process, error) {
	args := make([]string, 0, len(container.Args))
	for _, arg := range container.Args {
		args = append(args, wildcard.ReplaceAllString(arg, "${1}="+s.name+":$2"))
	}
	p := &process{cmd: s.command(container.Env, links, container.Command[0], append(container.Command[1:], args...)...), output: &transcript{}, ended: make(chan struct{})}
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

// command is a program of the image with the environment of a container, as for `kubectl exec`.
func (s *sandbox) command(env []core.EnvVar, links bool, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = "/"
	who := *s.who
	cmd.SysProcAttr = &who
	cmd.Env = []string{"PATH=/", "HOME=/", "KUBERNETES_SERVICE_HOST=10.96.0.1", "KUBERNETES_SERVICE_PORT=443"}
	if links { // what Kubernetes sets for a Service called carve
		cmd.Env = append(cmd.Env, "CARVE_SERVICE_HOST=10.96.0.2", "CARVE_PORT=tcp://10.96.0.2:443")
	}
	for _, v := range env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	return cmd
}

// stop asks a process to end and gives it the time that it has; killed says that it was not enough.
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

// transcript is what a container printed.
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
