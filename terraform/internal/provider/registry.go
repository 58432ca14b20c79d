package provider

import (
	"maps"
	"strings"
	"sync"

	"github.com/google/uuid"
)

// intent is the use that a resource plans for an object.
type intent int

const (
	intentKeep    intent = iota + 1 // the resource manages the object and keeps it
	intentRelease                   // the resource manages the object and plans to give it up
	intentCreate                    // the resource plans to create the object or to take it over
)

// registry records the resources that manage each object, as far as one provider process has seen them. Terraform starts one process for the
// plan and another for the apply. The planning process sees every resource, so the registry can refuse a plan in which two resources manage one
// object.
type registry struct {
	mu      sync.Mutex
	objects map[string]map[string]entry // first key: the object's path; second key: the resource's token
	inside  map[string]map[string]entry // objects that the plan keeps; first key: a container's path; second key: the object's path
	read    map[string]bool
	locks   map[string]*sync.Mutex
}

// entry is a resource's intent for an object.
type entry struct {
	intent   intent
	replaces bool // the plan destroys the object and creates it again
	done     bool // the resource has created the object in this process
	what     string
	mark     string // the mark in the resource's holding; two resources have the same mark if one of them imported the other's object
}

// planned is an entry with the object's path and the resource's token.
type planned struct {
	entry
	path, token string
	within      []string // the containers' paths
}

func newRegistry() *registry {
	return &registry{
		objects: map[string]map[string]entry{}, inside: map[string]map[string]entry{}, read: map[string]bool{}, locks: map[string]*sync.Mutex{},
	}
}

// pending is the token prefix for a resource that does not manage an object yet.
const pending = "pending:"

// recordState records that a state contains the object. Terraform plans a tainted resource as if it had no state. With this record, the registry
// still detects that the plan replaces the object.
func (r *registry) recordState(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read[path] = true
}

// plan records an entry. If the entry contradicts an earlier entry, plan returns an error and does not record it.
func (r *registry) plan(p planned) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.token == "" {
		p.token = pending + uuid.NewString()
		p.replaces = r.read[p.path]
	}
	for token, other := range r.objects[p.path] {
		if p.intent == intentRelease && other.done {
			return nil // the deletion leaves the object to the resource that created it
		}
		if token != p.token && (p.intent != intentRelease || other.intent != intentRelease) {
			return sharedError(p.what, other.intent, p.intent)
		}
	}
	if p.intent == intentKeep {
		for _, path := range p.within {
			for _, container := range r.objects[path] {
				if container.isDestroyed() {
					return insideError(container.what, p.what)
				}
			}
		}
	} else if p.isDestroyed() {
		for _, kept := range r.inside[p.path] {
			return insideError(p.what, kept.what)
		}
	}
	put(r.objects, p.path, p.token, p.entry)
	for _, path := range p.within {
		if p.intent == intentKeep {
			put(r.inside, path, p.path, p.entry)
		} else {
			delete(r.inside[path], p.path)
		}
	}
	return nil
}

// prefer records the entry for a resource whose mark the object has. It removes the entries with other marks, because their resources no longer
// manage the object. If another resource has the same mark, prefer returns an error.
func (r *registry) prefer(p planned) error {
	r.mu.Lock()
	maps.DeleteFunc(r.objects[p.path], func(_ string, other entry) bool { return other.mark != "" && other.mark != p.mark })
	r.mu.Unlock()
	return r.plan(p)
}

// isDestroyed reports whether the plan destroys the existing object.
func (e entry) isDestroyed() bool {
	return e.intent == intentRelease || e.intent == intentCreate && e.replaces
}

func put(in map[string]map[string]entry, key, inner string, e entry) {
	if in[key] == nil {
		in[key] = map[string]entry{}
	}
	in[key][inner] = e
}

// lock serializes the requests that create or delete one object.
func (r *registry) lock(path string) (unlock func()) {
	r.mu.Lock()
	if r.locks[path] == nil {
		r.locks[path] = &sync.Mutex{}
	}
	lock := r.locks[path]
	r.mu.Unlock()
	lock.Lock()
	return lock.Unlock
}

// begin records that a resource creates the object. It fails if another resource already manages the object.
func (r *registry) begin(path, token, what string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other, e := range r.objects[path] {
		if !strings.HasPrefix(other, pending) && other != token {
			return sharedError(what, e.intent, intentCreate)
		}
		delete(r.objects[path], other)
	}
	put(r.objects, path, token, entry{intent: intentCreate, done: true, what: what})
	return nil
}

// end records that a resource no longer manages the object.
func (r *registry) end(path, token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.objects[path], token)
}

// taken reports whether another resource has created the object, or taken it over, in this process.
func (r *registry) taken(path, token string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other, e := range r.objects[path] {
		if other != token && e.done {
			return true
		}
	}
	return false
}

// containers returns the paths to all objects that contain the object at this path, such as its project and its pool.
func containers(path string) []string {
	steps := strings.Split(path, "/") // "", "v1", "projects", P, collection, name, ...
	var found []string
	for end := 4; end < len(steps); end += 2 {
		found = append(found, strings.Join(steps[:end], "/"))
	}
	return found
}

// within returns the paths to the objects that contain an object. Some are on the object's path. The object's attributes name the others.
func (k kind) within(v values) []string {
	found := containers(k.at(v))
	for _, f := range k.fields {
		if f.of == "" || !known(v[f.name]) {
			continue
		}
		names, _ := v[f.name].([]any)
		if name := v.text(f.name); name != "" {
			names = append(names, name)
		}
		for _, name := range names {
			project := v.text("project")
			text, ok := name.(string)
			if !ok {
				continue // the name is known only after apply
			}
			if of, rest, named := strings.Cut(text, "/"); named {
				project, text = of, rest
			}
			found = append(found, "/v1/projects/"+project+"/"+fill(f.of, v)+"/"+text)
		}
	}
	return found
}
