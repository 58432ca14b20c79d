package telemetry

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// answered is what tells answers apart.
type answered struct {
	method, route, operation string
	status                   int
}

// answers keeps the labels of answers, which cost more to make than to count by: sorted, and copied several times. There are a few hundred:
// all parts are this build's own words.
type answers struct {
	kept sync.Map // answered to []metric.RecordOption
}

func (k *answers) of(a answered) []metric.RecordOption {
	if options, ok := k.kept.Load(a); ok {
		options, _ := options.([]metric.RecordOption)
		return options
	}
	options := []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(
		semconv.HTTPRequestMethodKey.String(a.method), semconv.HTTPRoute(a.route), semconv.HTTPResponseStatusCode(a.status),
		labelOperation.String(a.operation),
	))}
	k.kept.Store(a, options)
	return options
}
