package telemetry

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// responseKey has a response's label values.
type responseKey struct {
	method, route, operation string
	status                   int
}

// responseAttributes caches label sets for responses. Without the cache, a label set would cost more than the count itself, because it is sorted and
// copied several times. The cache has a few hundred entries at most, because all values are fixed in this build.
type responseAttributes struct {
	cache sync.Map // from responseKey to []metric.RecordOption
}

func (k *responseAttributes) options(a responseKey) []metric.RecordOption {
	if options, ok := k.cache.Load(a); ok {
		options, _ := options.([]metric.RecordOption)
		return options
	}
	options := []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(
		semconv.HTTPRequestMethodKey.String(a.method), semconv.HTTPRoute(a.route), semconv.HTTPResponseStatusCode(a.status),
		labelOperation.String(a.operation),
	))}
	k.cache.Store(a, options)
	return options
}
