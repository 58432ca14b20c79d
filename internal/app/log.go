package app

import (
	"io"
	"log/slog"
)

// newLog returns the process's logger, which writes to w in the configured format and level.
func newLog(w io.Writer, c Config) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // Config.check has validated it
	o := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
