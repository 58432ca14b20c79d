package follow

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// Cache is a copy of what is followed, kept up by [Cache.Run]. It is safe for any number of goroutines. What it answers may be a moment old: write
// with the revision that it answers in If-Match.
type Cache[T any] struct {
	source   Source[T]
	onChange func(Event[T])
	onError  func(error)

	mu     sync.RWMutex
	items  map[string]T
	synced chan struct{} // closed when all is here that was there at the start
}

// NewCache makes an empty cache of a source. onChange is told of every event after the cache has it, one after another; onError of what fails while it
// is kept up. Both may be nil.
func NewCache[T any](source Source[T], onChange func(Event[T]), onError func(error)) *Cache[T] {
	return &Cache[T]{source: source, onChange: onChange, onError: onError, items: map[string]T{}, synced: make(chan struct{})}
}

// Run keeps the cache up until the context ends, or a refusal that stays ends it; that is its error. Call it once.
func (c *Cache[T]) Run(ctx context.Context) error {
	var last error
	for e, err := range c.source.Watch(ctx) {
		last = err
		if err != nil {
			if c.onError != nil {
				c.onError(err)
			}
			continue
		}
		c.apply(e)
		if c.onChange != nil {
			c.onChange(e)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return last
}

func (c *Cache[T]) apply(e Event[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.Type {
	case Put:
		c.items[e.Name] = *e.Object
	case Delete:
		delete(c.items, e.Name)
	case Synced:
		select {
		case <-c.synced:
		default:
			close(c.synced)
		}
	}
}

// Synced is closed when everything is in the cache that was there when it was begun.
func (c *Cache[T]) Synced() <-chan struct{} { return c.synced }

// Get answers the object of a name, if there is one.
func (c *Cache[T]) Get(name string) (T, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	object, there := c.items[name]
	return object, there
}

// List answers all objects in order of their names.
func (c *Cache[T]) List() []T {
	c.mu.RLock()
	defer c.mu.RUnlock()
	objects := make([]T, 0, len(c.items))
	for _, name := range slices.Sorted(maps.Keys(c.items)) {
		objects = append(objects, c.items[name])
	}
	return objects
}
