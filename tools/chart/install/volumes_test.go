package install

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	authentication "k8s.io/api/authentication/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// volume is the content of a mounted volume: files, or a writable directory, which moves to another path after the pod's end.
type volume struct {
	files    map[string][]byte
	mode     os.FileMode
	writable bool
	kept     string // "" if the content goes with the pod
}

// open reads the content of a pod's volume. Persistent volume claims are directories below claims.
func open(ctx context.Context, clients kubernetes.Interface, pod *core.Pod, claims string, source core.VolumeSource) (volume, error) {
	switch {
	case source.EmptyDir != nil:
		return volume{writable: true}, nil
	case source.PersistentVolumeClaim != nil:
		return volume{writable: true, kept: filepath.Join(claims, source.PersistentVolumeClaim.ClaimName)}, nil
	case source.Secret != nil:
		secret, err := clients.CoreV1().Secrets(pod.Namespace).Get(ctx, source.Secret.SecretName, meta.GetOptions{})
		if err != nil {
			return volume{}, err
		}
		files, err := chosen(secret.Data, source.Secret.Items)
		return volume{files: files, mode: os.FileMode(*source.Secret.DefaultMode)}, err
	case source.ConfigMap != nil:
		files, err := configured(ctx, clients, pod.Namespace, source.ConfigMap.Name, source.ConfigMap.Items)
		return volume{files: files, mode: os.FileMode(*source.ConfigMap.DefaultMode)}, err
	case source.Projected != nil:
		v := volume{files: map[string][]byte{}, mode: os.FileMode(*source.Projected.DefaultMode)}
		for _, part := range source.Projected.Sources {
			files, err := projected(ctx, clients, pod, part)
			if err != nil {
				return volume{}, err
			}
			maps.Copy(v.files, files)
		}
		return v, nil
	}
	return volume{}, fmt.Errorf("it is of a kind that this kubelet does not know")
}

func configured(ctx context.Context, clients kubernetes.Interface, namespace, name string, items []core.KeyToPath) (map[string][]byte, error) {
	config, err := clients.CoreV1().ConfigMaps(namespace).Get(ctx, name, meta.GetOptions{})
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for name, text := range config.Data {
		all[name] = []byte(text)
	}
	return chosen(all, items)
}

// projected returns the files of one source of a projected volume. The API server issues the tokens, which are valid for this pod only.
func projected(ctx context.Context, clients kubernetes.Interface, pod *core.Pod, part core.VolumeProjection) (map[string][]byte, error) {
	switch {
	case part.ServiceAccountToken != nil:
		made, err := clients.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, &authentication.TokenRequest{Spec: authentication.TokenRequestSpec{
			ExpirationSeconds: part.ServiceAccountToken.ExpirationSeconds,
			BoundObjectRef:    &authentication.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
		}}, meta.CreateOptions{})
		if err != nil {
			return nil, err
		}
		return map[string][]byte{part.ServiceAccountToken.Path: []byte(made.Status.Token)}, nil
	case part.ConfigMap != nil:
		return configured(ctx, clients, pod.Namespace, part.ConfigMap.Name, part.ConfigMap.Items)
	case part.DownwardAPI != nil:
		files := map[string][]byte{}
		for _, item := range part.DownwardAPI.Items {
			text, err := downward(pod, item.FieldRef)
			if err != nil {
				return nil, err
			}
			files[item.Path] = []byte(text)
		}
		return files, nil
	}
	return nil, fmt.Errorf("it projects what this kubelet does not know")
}

// downward returns a field of the pod itself.
func downward(pod *core.Pod, field *core.ObjectFieldSelector) (string, error) {
	switch field.FieldPath {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	}
	return "", fmt.Errorf("this kubelet does not tell a pod its %s", field.FieldPath)
}

func chosen(all map[string][]byte, items []core.KeyToPath) (map[string][]byte, error) {
	if len(items) == 0 {
		return all, nil
	}
	files := map[string][]byte{}
	for _, item := range items {
		content, ok := all[item.Key]
		if !ok {
			return nil, fmt.Errorf("there is no key %s", item.Key)
		}
		files[item.Path] = content
	}
	return files, nil
}

// mount puts a volume at a container's mount path, with its mode and the pod's group. In a user namespace, the namespace's user owns it.
func (v volume) mount(dir string, group int) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if v.kept != "" {
		if err := os.MkdirAll(v.kept, 0o755); err != nil {
			return err
		}
		if err := os.Rename(v.kept, dir); err != nil { // one pod at a time uses it
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if v.writable {
		if err := os.Chown(dir, -1, group); err != nil {
			return err
		}
		return os.Chmod(dir, 0o775)
	}
	for name, content := range v.files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
		if err := os.Chown(path, -1, group); err != nil {
			return err
		}
		if err := os.Chmod(path, v.mode); err != nil {
			return err
		}
	}
	return nil
}
