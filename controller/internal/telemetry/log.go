package telemetry

import (
	"io"
	"log/slog"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// NewLog returns the process's logger. It writes records of the level or above to w, as text or json. Its field names are the same as in the server's
// log.
func NewLog(w io.Writer, level slog.Level, format string) *slog.Logger {
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: asTheServer}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// asTheServer renames the fields of libraries to the names in the server's log.
func asTheServer(groups []string, a slog.Attr) slog.Attr {
	switch {
	case len(groups) > 0:
	case a.Key == "err": // from logr
		a.Key = "error"
	case a.Key == slog.LevelKey:
		if level, ok := a.Value.Any().(slog.Level); ok && level < slog.LevelInfo { // logr has many levels below this one
			a.Value = slog.StringValue(slog.LevelDebug.String())
		}
	}
	return a
}

// Adopt makes the libraries use a logger.
func Adopt(log *slog.Logger) {
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	klog.SetSlogLogger(log)
}
