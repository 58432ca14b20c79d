package telemetry

import (
	"io"
	"log/slog"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// NewLog is the process's logger: to w, in a format (text or json), from a level on. Its fields are called as the server's are.
func NewLog(w io.Writer, level slog.Level, format string) *slog.Logger {
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: asTheServer}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// asTheServer gives what the libraries log the names that the server's log has.
func asTheServer(groups []string, a slog.Attr) slog.Attr {
	switch {
	case len(groups) > 0:
	case a.Key == "err": // logr's
		a.Key = "error"
	case a.Key == slog.LevelKey:
		if level, ok := a.Value.Any().(slog.Level); ok && level < slog.LevelInfo { // logr has many levels below this one
			a.Value = slog.StringValue(slog.LevelDebug.String())
		}
	}
	return a
}

// Adopt has the libraries log to it.
func Adopt(log *slog.Logger) {
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	klog.SetSlogLogger(log)
}
