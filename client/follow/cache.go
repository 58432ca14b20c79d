package follow

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// Cache is a copy of the objects of a [Source]. [Cache.Run] keeps the copy up to date. It is safe for concurrent use. Its objects may be slightly
// stale, so send their revision in If-Match when you change them.
type Cache[T any] struct {
	source   Source[T]
	onChange func(Event[T])
	onError  func(error)

	mu     sync.RWMutex
	items  map[string]T
	synced chan struct{} // closed after the first complete list
}

// NewCache makes an empty cache for a source. After the cache has applied an event, it calls onChange with that event. It makes one such call at a
// time. It calls onError with each error of the watch. Both functions may be nil.
func NewCache[T any](source Source[T], onChange func(Event[T]), onError func(error)) *Cache[T] {
	return &Cache[T]{source: source, onChange: onChange, onError: onError, items: map[string]T{}, synced: make(chan struct{})}
}

// Run keeps the cache up to date until the context ends or the server returns a permanent refusal ([Stays]). It returns the context's error or the
// refusal. Call it only once.
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

// Synced returns a channel that closes when the cache has all objects from the first list.
func (c *Cache[T]) Synced() <-chan struct{} { return c.synced }

// Get returns the object with a name, if the cache has it.
func (c *Cache[T]) Get(name string) (T, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	object, there := c.items[name]
	return object, there
}

// List returns all objects in name order.
func (c *Cache[T]) List() []T {
	c.mu.RLock()
	defer c.mu.RUnlock()
	objects := make([]T, 0, len(c.items))
	for _, name := range slices.Sorted(maps.Keys(c.items)) {
		objects = append(objects, c.items[name])
	}
	return objects
}
