package dbtest

import (
	"context"
	"fmt"
	"sync"
)

// template is the migrated state that the databases of one kind begin with. T is the engine's form of this state.
type template[T any] struct {
	migrate func(ctx context.Context, dsn string) error
	once    sync.Once
	made    T
	err     error
}

// templatesOf returns a template for each kind of database; "" is the default kind.
func templatesOf[T any](cfg Config) map[string]*template[T] {
	all := map[string]*template[T]{"": {migrate: cfg.Migrate}}
	for kind, migrate := range cfg.Kinds {
		all[kind] = &template[T]{migrate: migrate}
	}
	return all
}

// stateOf returns the state of a kind's template. The first call for a kind builds it.
func stateOf[T any](ctx context.Context, all map[string]*template[T], kind string, build func(ctx context.Context, t *template[T]) (T, error)) (T, error) {
	t, ok := all[kind]
	if !ok {
		var none T
		return none, fmt.Errorf("Config.Kinds does not have the kind %q", kind)
	}
	t.once.Do(func() {
		if t.made, t.err = build(context.WithoutCancel(ctx), t); t.err != nil {
			t.err = fmt.Errorf("migrating the template: %w", t.err)
		}
	})
	return t.made, t.err
}
